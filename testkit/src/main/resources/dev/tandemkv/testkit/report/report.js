(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const POLICY_COLOURS = { "round-robin": "#8a94a6", "least-loaded": "#d97706", "lmetric": "#2563eb", "kv-aware": "#059669" };
  const COLOURS = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#65a30d"];
  const HEIGHT = 320;

  function colour(i) {
    return i < COLOURS.length ? COLOURS[i] : "hsl(" + ((i * 137) % 360) + ",60%,45%)";
  }

  function place(parent) {
    const div = document.createElement("div");
    div.className = "chart";
    parent.appendChild(div);
    return div;
  }

  function draw(parent, options, columns) {
    const div = place(parent);
    options.width = Math.max(320, div.clientWidth);
    options.height = HEIGHT;
    const chart = new uPlot(options, columns, div);
    window.addEventListener("resize", () => chart.setSize({ width: Math.max(320, div.clientWidth), height: HEIGHT }));
  }

  function shortTime(ms) {
    return ms >= 1000 ? ms / 1000 + " s" : ms + " ms";
  }

  function drawDistribution(parent, group) {
    const series = [{ label: "within", value: (u, v) => (v == null ? "" : Math.round(v).toLocaleString("en") + " ms") }];
    group.series.forEach((s, i) => series.push({
      label: s.name,
      stroke: POLICY_COLOURS[s.policy] || colour(i),
      width: 2,
      dash: s.dashed ? [6, 4] : undefined,
      points: { show: false },
      value: (u, v) => (v == null ? "" : v.toFixed(1) + " %"),
    }));
    draw(parent, {
      title: group.topology,
      scales: { x: { time: false, distr: 3 }, y: { range: [0, 100] } },
      axes: [
        { values: (u, splits) => splits.map((v) => (v == null || Math.log10(v) % 1 !== 0 ? "" : shortTime(v))) },
        { values: (u, splits) => splits.map((v) => v + " %") },
      ],
      series: series,
    }, [data.millis].concat(group.series.map((s) => s.share)));
  }

  function drawTimeline(parent, run, title, field, unit) {
    const series = [{ label: "at", value: (u, v) => (v == null ? "" : Math.round(v) + " s") }];
    run.workers.forEach((w, i) => series.push({
      label: w.name,
      stroke: colour(i),
      width: 1.5,
      points: { show: false },
      value: (u, v) => (v == null ? "" : v.toFixed(1) + unit),
    }));
    draw(parent, {
      title: title,
      scales: { x: { time: false } },
      axes: [
        { values: (u, splits) => splits.map((v) => v + " s") },
        { values: (u, splits) => splits.map((v) => v + unit) },
      ],
      series: series,
    }, [run.seconds].concat(run.workers.map((w) => w[field])));
  }

  function drawRun(index) {
    const parent = document.getElementById("timelines");
    parent.textContent = "";
    const run = data.runs[index];
    drawTimeline(parent, run, "Load: requests in the engine", "load", "");
    drawTimeline(parent, run, "Cache hits: cached share of the prompt tokens so far", "hits", " %");
  }

  const distributions = document.getElementById("distributions");
  data.distributions.forEach((group) => drawDistribution(distributions, group));

  const select = document.getElementById("run");
  data.runs.forEach((run, i) => select.add(new Option(run.name, i)));
  select.value = Math.max(0, data.runs.findIndex((run) => run.name.includes("kv-aware")));
  select.addEventListener("change", () => drawRun(Number(select.value)));
  drawRun(Number(select.value));
})();
