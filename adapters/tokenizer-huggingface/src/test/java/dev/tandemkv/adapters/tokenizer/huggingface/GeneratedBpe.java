package dev.tandemkv.adapters.tokenizer.huggingface;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A byte-level BPE vocabulary of any size, grown from made-up words as training grows one, the same for the same seed; with an encoder of its
 * own that does the obvious.
 */
final class GeneratedBpe {

    static final String BEGIN = "<|begin|>";
    static final String END = "<|end|>";

    /** How byte-level files cut a text before they merge. */
    private static final Pattern WORDS = Pattern.compile(
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
            Pattern.UNICODE_CHARACTER_CLASS);

    private static final List<String> SYLLABLES = List.of(
            "ba",
            "ken",
            "tri",
            "so",
            "lu",
            "mar",
            "ing",
            "st",
            "er",
            "ou",
            "cha",
            "fe",
            "zo",
            "qui",
            "n\u00e9",
            "\u00fc",
            "\u00df",
            "\u65e5",
            "\u672c",
            "\u0434\u0430",
            "\u043d\u0435",
            "7",
            "20",
            "=",
            "->",
            "_");

    private final List<String> tokens = new ArrayList<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private final List<String> merges = new ArrayList<>();
    private final Map<String, Integer> ranks = new HashMap<>();

    private GeneratedBpe() {}

    static GeneratedBpe of(int merges, long seed) {
        GeneratedBpe bpe = new GeneratedBpe();
        for (int b = 0; b < 256; b++) {
            bpe.add(String.valueOf(symbol(b)));
        }
        Random random = new Random(seed);
        while (bpe.merges.size() < merges) {
            List<String> symbols = bpe.merged(symbols(word(random)));
            if (symbols.size() > 1) {
                int at = random.nextInt(symbols.size() - 1);
                bpe.merge(symbols.get(at), symbols.get(at + 1));
            }
        }
        return bpe;
    }

    /** One made-up word, mostly with the space before it that words have in a text. */
    static String word(Random random) {
        StringBuilder word = new StringBuilder(random.nextInt(4) == 0 ? "" : " ");
        for (int i = random.nextInt(4); i >= 0; i--) {
            word.append(SYLLABLES.get(random.nextInt(SYLLABLES.size())));
        }
        return word.toString();
    }

    private void merge(String left, String right) {
        if (ranks.putIfAbsent(left + ' ' + right, merges.size()) == null) {
            merges.add(left + ' ' + right);
            if (!ids.containsKey(left + right)) {
                add(left + right);
            }
        }
    }

    private void add(String token) {
        ids.put(token, tokens.size());
        tokens.add(token);
    }

    int size() {
        return tokens.size();
    }

    /** The ids of a text, nothing added. */
    List<Integer> encode(String text) {
        List<Integer> found = new ArrayList<>();
        Matcher words = WORDS.matcher(text);
        while (words.find()) {
            merged(symbols(words.group())).forEach(symbol -> found.add(ids.get(symbol)));
        }
        return found;
    }

    /** Merges the pair of the lowest rank, the leftmost of several, until there is none. */
    private List<String> merged(List<String> symbols) {
        while (true) {
            int best = Integer.MAX_VALUE;
            int at = -1;
            for (int i = 0; i + 1 < symbols.size(); i++) {
                int rank = ranks.getOrDefault(symbols.get(i) + ' ' + symbols.get(i + 1), Integer.MAX_VALUE);
                if (rank < best) {
                    best = rank;
                    at = i;
                }
            }
            if (at < 0) {
                return symbols;
            }
            symbols.set(at, symbols.get(at) + symbols.remove(at + 1));
        }
    }

    private static List<String> symbols(String text) {
        List<String> symbols = new ArrayList<>();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            symbols.add(String.valueOf(symbol(b & 0xFF)));
        }
        return symbols;
    }

    /** The text that the ids stand for. */
    String decode(int[] encoded) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Map<Character, Integer> byteOf = new HashMap<>();
        for (int b = 0; b < 256; b++) {
            byteOf.put(symbol(b), b);
        }
        for (int id : encoded) {
            for (char symbol : tokens.get(id).toCharArray()) {
                bytes.write(byteOf.get(symbol));
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Printable bytes stand for themselves, the others for characters from U+0100 on, in order. */
    private static char symbol(int b) {
        if (isPrintable(b)) {
            return (char) b;
        }
        int before = 0;
        for (int other = 0; other < b; other++) {
            before += isPrintable(other) ? 0 : 1;
        }
        return (char) (256 + before);
    }

    private static boolean isPrintable(int b) {
        return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    }

    /** The {@code tokenizer.json}, with two special tokens after the others, put around a text. */
    String json() {
        StringBuilder json = new StringBuilder(4 << 20);
        json.append("{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[")
                .append(special(size(), BEGIN))
                .append(',')
                .append(special(size() + 1, END))
                .append("],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,")
                .append(
                        "\"trim_offsets\":true,\"use_regex\":true},\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[")
                .append("{\"SpecialToken\":{\"id\":\"" + BEGIN
                        + "\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},")
                .append("{\"SpecialToken\":{\"id\":\"" + END
                        + "\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},")
                .append("{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],\"special_tokens\":{")
                .append(template(size(), BEGIN))
                .append(',')
                .append(template(size() + 1, END))
                .append(
                        "}},\"decoder\":null,\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"vocab\":{");
        for (int id = 0; id < size(); id++) {
            json.append(id == 0 ? "" : ",")
                    .append(quoted(tokens.get(id)))
                    .append(':')
                    .append(id);
        }
        json.append("},\"merges\":[");
        for (int rank = 0; rank < merges.size(); rank++) {
            json.append(rank == 0 ? "" : ",").append(quoted(merges.get(rank)));
        }
        return json.append("]}}").toString();
    }

    private static String special(int id, String token) {
        return "{\"id\":" + id + ",\"content\":\"" + token
                + "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                + "\"normalized\":false,\"special\":true}";
    }

    private static String template(int id, String token) {
        return "\"" + token + "\":{\"id\":\"" + token + "\",\"ids\":[" + id + "],\"tokens\":[\"" + token + "\"]}";
    }

    private static String quoted(String token) {
        return '"' + token.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
