package dev.tandemkv.coordinator;

/** The ready-made bypass policies. */
final class Policies {

    static final DisaggPolicy DISABLED = new Disabled();
    static final DisaggPolicy PREFILL_LOAD = new PrefillLoad();

    private Policies() {}

    private record Disabled() implements DisaggPolicy {
        @Override
        public Verdict decide(BypassSignals signals) {
            return Verdict.REMOTE_PREFILL;
        }

        @Override
        public boolean enabled() {
            return false;
        }
    }

    record IslBounding(double tokens, double ratio) implements DisaggPolicy {

        IslBounding {
            if (!(tokens >= 0)) {
                throw new IllegalArgumentException("tokens: " + tokens + " (expected: >= 0)");
            }
            if (!(ratio >= 0)) {
                throw new IllegalArgumentException("ratio: " + ratio + " (expected: >= 0)");
            }
        }

        @Override
        public Verdict decide(BypassSignals signals) {
            Long prompt = signals.promptTokens();
            if (prompt == null) {
                return Verdict.REMOTE_PREFILL;
            }
            double netNew = signals.netNewTokens();
            return netNew < tokens && netNew / Math.max(1, prompt) < ratio ? Verdict.BYPASS : Verdict.REMOTE_PREFILL;
        }
    }

    private record PrefillLoad() implements DisaggPolicy {
        @Override
        public Verdict decide(BypassSignals signals) {
            return Boolean.TRUE.equals(signals.prefillBusy()) ? Verdict.BYPASS : Verdict.REMOTE_PREFILL;
        }

        @Override
        public PrefillProbe prefillProbe() {
            return PrefillProbe.NEEDED;
        }
    }

    record IslOrLoad(IslBounding isl) implements DisaggPolicy {
        @Override
        public Verdict decide(BypassSignals signals) {
            return isl.decide(signals) == Verdict.BYPASS ? Verdict.BYPASS : PREFILL_LOAD.decide(signals);
        }

        @Override
        public PrefillProbe prefillProbe() {
            return PrefillProbe.NEEDED;
        }
    }
}
