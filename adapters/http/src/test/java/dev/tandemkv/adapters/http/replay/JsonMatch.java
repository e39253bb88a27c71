package dev.tandemkv.adapters.http.replay;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Compares an answer with a recorded one, as the rows of a conversation say. Numbers are compared by value, never as doubles. */
final class JsonMatch {

    private final Set<String> volatiles;
    private final Set<String> unordered;
    private final Set<String> wordings;
    private final List<String> differences = new ArrayList<>();

    JsonMatch(Set<String> volatiles, Set<String> unordered, Set<String> wordings) {
        this.volatiles = volatiles;
        this.unordered = unordered;
        this.wordings = wordings;
    }

    /** What differs, each with its place. */
    List<String> compare(JsonNode expected, JsonNode actual) {
        compare("", expected, actual);
        return differences;
    }

    private void compare(String at, JsonNode expected, JsonNode actual) {
        if (volatiles.contains(at)) {
            require(at, expected.getNodeType() == actual.getNodeType(), expected, actual);
        } else if (wordings.contains(at) || at.contains("/not_schedulable_reasons/")) {
            require(at, actual.isTextual() && !actual.textValue().isBlank(), expected, actual);
        } else if (expected.isObject() && actual.isObject()) {
            expected.fieldNames()
                    .forEachRemaining(name -> compare(at + '/' + name, expected.get(name), orMissing(actual, name)));
            actual.fieldNames().forEachRemaining(name -> require(at + '/' + name, expected.has(name), "absent", name));
        } else if (expected.isArray() && actual.isArray()) {
            compareLists(at, expected, actual);
        } else {
            require(at, sameValue(expected, actual), expected, actual);
        }
    }

    private void compareLists(String at, JsonNode expected, JsonNode actual) {
        if (expected.size() != actual.size()) {
            require(at, false, expected, actual);
            return;
        }
        if (unordered.contains(at) || at.endsWith("/loads") || at.endsWith("taints")) {
            List<JsonNode> left = new ArrayList<>();
            actual.forEach(left::add);
            for (JsonNode wanted : expected) {
                boolean found = left.removeIf(new FirstMatch(wanted));
                require(at, found, wanted, left);
            }
            return;
        }
        for (int i = 0; i < expected.size(); i++) {
            compare(at + '/' + i, expected.get(i), actual.get(i));
        }
    }

    /** Takes one node of a list, not all that are equal. */
    private static final class FirstMatch implements Predicate<JsonNode> {
        private final JsonNode wanted;
        private boolean taken;

        FirstMatch(JsonNode wanted) {
            this.wanted = wanted;
        }

        @Override
        public boolean test(JsonNode node) {
            boolean takes = !taken && same(wanted, node);
            taken |= takes;
            return takes;
        }
    }

    static boolean same(JsonNode a, JsonNode b) {
        return new JsonMatch(Set.of(), Set.of(), Set.of()).compare(a, b).isEmpty();
    }

    private static boolean sameValue(JsonNode a, JsonNode b) {
        return a.isNumber() && b.isNumber() ? a.decimalValue().compareTo(b.decimalValue()) == 0 : a.equals(b);
    }

    private static JsonNode orMissing(JsonNode node, String name) {
        JsonNode value = node.get(name);
        return value == null ? MissingNode.getInstance() : value;
    }

    private void require(String at, boolean holds, Object expected, Object actual) {
        if (!holds) {
            differences.add((at.isEmpty() ? "answer" : at) + ": expected " + expected + ", was " + actual);
        }
    }

    /** Puts a value where a pointer points; the empty pointer replaces all. */
    static JsonNode with(JsonNode root, String pointer, JsonNode value) {
        if (pointer.isEmpty()) {
            return value;
        }
        JsonPointer at = JsonPointer.compile(pointer);
        JsonNode parent = root.at(at.head());
        String last = at.last().getMatchingProperty();
        if (parent instanceof ArrayNode list) {
            list.set(Integer.parseInt(last), value);
        } else if (parent instanceof ObjectNode object) {
            object.set(last, value);
        } else {
            throw new AssertionError("no place " + pointer + " in " + root);
        }
        return root;
    }
}
