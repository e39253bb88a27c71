package dev.tandemkv.examples.picker;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;

/** Takes what is not given on the command line from the variable that the option's text names first. */
final class Environment implements IDefaultValueProvider {

    private static final Pattern VARIABLE = Pattern.compile("\\b(?:(?:DYN|TANDEMKV|POD)_[A-Z_]+|KUBECONFIG)\\b");

    private final Map<String, String> variables;

    private Environment(Map<String, String> variables) {
        this.variables = variables;
    }

    /** Lets a command and its subcommands read variables. Their texts stand as written: filled in, they would ask for the defaults again. */
    static CommandLine under(Map<String, String> variables, CommandLine command) {
        return command.setInterpolateVariables(false).setDefaultValueProvider(new Environment(variables));
    }

    /** The variable's value, or {@code null} for the option's own default. */
    @Override
    public @Nullable String defaultValue(ArgSpec option) {
        String variable = variableOf(option);
        String value = variable == null ? null : variables.get(variable);
        return value == null || value.isEmpty() ? null : value;
    }

    static @Nullable String variableOf(ArgSpec option) {
        Matcher named = VARIABLE.matcher(String.join(" ", option.description()));
        return named.find() ? named.group() : null;
    }
}
