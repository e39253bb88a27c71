package dev.tandemkv.release;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** A POM as it is written, without what it inherits. */
record Pom(Path file, Element project) {

    static Pom read(Path file) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            return new Pom(
                    file, factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalArgumentException(file + ": no XML", e);
        }
    }

    /** The text at a path of element names, if each of them is there. */
    Optional<String> text(String... path) {
        return elements(path).stream().findFirst().map(e -> e.getTextContent().strip());
    }

    /** Every element at a path of names, in the order of the file. */
    List<Element> elements(String... path) {
        List<Element> found = List.of(project);
        for (String name : path) {
            found = found.stream().flatMap(e -> children(e, name).stream()).toList();
        }
        return found;
    }

    List<Dependency> dependencies() {
        return dependencies("dependencies", "dependency");
    }

    List<Dependency> managedDependencies() {
        return dependencies("dependencyManagement", "dependencies", "dependency");
    }

    private List<Dependency> dependencies(String... path) {
        return elements(path).stream()
                .map(e -> new Dependency(
                        child(e, "groupId"), child(e, "artifactId"), child(e, "version"), child(e, "scope")))
                .toList();
    }

    private static String child(Element parent, String name) {
        List<Element> found = children(parent, name);
        return found.isEmpty() ? "" : found.get(0).getTextContent().strip();
    }

    private static List<Element> children(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                found.add(element);
            }
        }
        return found;
    }

    /** What is not written is the empty string. */
    record Dependency(String groupId, String artifactId, String version, String scope) {

        boolean isOurs() {
            return groupId.equals(Reactor.GROUP);
        }
    }
}
