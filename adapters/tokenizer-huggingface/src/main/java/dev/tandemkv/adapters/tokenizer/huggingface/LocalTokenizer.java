package dev.tandemkv.adapters.tokenizer.huggingface;

import dev.tandemkv.adapters.tokenizer.MediaIdentity;
import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.Scheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A local {@code tokenizer.json}, read by DJL's Hugging Face tokenizers. One file serves every model that a request may name.
 *
 * <p>A completion's ids are the engine's if the engine loads the same file and both add special tokens alike ({@link
 * Builder#completions}). A conversation needs the model's chat template, which the file does not have: the host brings one ({@link
 * Builder#chatTemplate}), or conversations are refused with {@link Failure#INVALID_REQUEST}. Media are told apart by {@link MediaIdentity}.
 *
 * <p>Everything but the limits' check runs on the host's executor. A prompt counts against the limits until the executor has come to it,
 * even if it was cancelled, came too late or was failed by {@link #close} before: what an executor still refers to is bounded too. A
 * tokenization that runs cannot be interrupted; {@link #close} does not wait for it, and the native memory is freed when the last one ends.
 *
 * <p>The native library lies in DJL's jar (Linux x86-64 and AArch64, macOS AArch64, Windows x86-64) and is unpacked once into DJL's cache
 * directory ({@code DJL_CACHE_DIR}). On a host with CUDA, DJL would download another one unless {@code RUST_FLAVOR=cpu} or {@code
 * ai.djl.offline=true} is set, as environment variable or system property each.
 *
 * <p>Thread-safe.
 */
public final class LocalTokenizer implements Tokenizer {

    private final GuardedEncoder encoder;
    private final Executor executor;
    private final Scheduler scheduler;
    private final @Nullable ChatTemplate template;
    private final SpecialTokens completions;
    private final SpecialTokens chats;
    private final Duration timeout;
    private final long maxRequestBytes;
    private final Room room;
    /** Those without an outcome. */
    private final Set<Job> open = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private LocalTokenizer(Builder builder, Encoder encoder) {
        this.encoder = new GuardedEncoder(encoder);
        executor = builder.executor;
        scheduler = builder.scheduler;
        template = builder.template;
        completions = builder.completions;
        chats = builder.chats;
        timeout = builder.timeout;
        maxRequestBytes = builder.maxRequestBytes;
        room = new Room(builder.maxPrompts, builder.maxBytes);
    }

    /**
     * @param file a {@code tokenizer.json}
     * @param executor tokenizes, and continues what depends on the outcome; stays the caller's. One that runs what it is given on the
     *     calling thread makes {@link #tokenize} block
     * @param scheduler runs timeouts; what depends on an outcome that came too late continues on its thread
     */
    public static Builder builder(Path file, Executor executor, Scheduler scheduler) {
        return new Builder(file, executor, scheduler);
    }

    @Override
    public CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request) {
        Objects.requireNonNull(request, "request");
        long size = request.bytes();
        if (size > maxRequestBytes) {
            return failed(Failure.INVALID_REQUEST, "prompt: " + size + " bytes (expected: <= " + maxRequestBytes + ")");
        }
        if (request instanceof TokenizeRequest.Chat && template == null) {
            return failed(
                    Failure.INVALID_REQUEST,
                    "request: a conversation (expected: a completion, for no chat template is configured)");
        }
        if (closed) {
            return CompletableFuture.failedFuture(closedFailure());
        }
        if (!room.enter(size)) {
            return failed(Failure.UNAVAILABLE, "too many prompts, or bytes of them, wait to be tokenized");
        }
        Job job = new Job(request, size);
        open.add(job);
        job.answer.whenComplete((prompt, failure) -> open.remove(job));
        job.submit();
        if (closed) {
            job.settle(null, closedFailure());
        }
        return job.answer;
    }

    private TokenizedPrompt encode(TokenizeRequest request) {
        if (request instanceof TokenizeRequest.Chat chat) {
            String text = Objects.requireNonNull(template).render(chat);
            if (text.length() > maxRequestBytes) {
                throw new TokenizerException(
                        Failure.INVALID_REQUEST,
                        "rendered prompt: " + text.length() + " characters (expected: <= " + maxRequestBytes + ")",
                        null);
            }
            return new TokenizedPrompt(encoder.encode(unicode(text), chats), MediaIdentity.of(chat));
        }
        String text = ((TokenizeRequest.Completion) request).text();
        return TokenizedPrompt.of(encoder.encode(unicode(text), completions));
    }

    /** The library takes half a surrogate pair for another character without a word. */
    private static String unicode(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                throw new TokenizerException(
                        Failure.INVALID_REQUEST, "prompt: half a surrogate pair (expected: Unicode)", null);
            }
        }
        return text;
    }

    @Override
    public void close() {
        closed = true;
        encoder.close();
        for (Job job : open) {
            job.settle(null, closedFailure());
        }
    }

    private static TokenizerException closedFailure() {
        return new TokenizerException(Failure.UNAVAILABLE, "the tokenizer is closed", null);
    }

    private static CompletionStage<TokenizedPrompt> failed(Failure failure, String message) {
        return CompletableFuture.failedFuture(new TokenizerException(failure, message, null));
    }

    /** One prompt. The executor's thread runs it once; any thread may settle it before. */
    private final class Job implements Runnable {
        private final TokenizeRequest request;
        private final long size;
        private final CompletableFuture<TokenizedPrompt> answer = new CompletableFuture<>();
        private final AtomicBoolean inRoom = new AtomicBoolean(true);

        Job(TokenizeRequest request, long size) {
            this.request = request;
            this.size = size;
        }

        void submit() {
            try {
                Scheduler.Task deadline = scheduler.schedule(
                        timeout,
                        () -> settle(
                                null,
                                new TokenizerException(Failure.TIMEOUT, "the prompt was not tokenized in time", null)));
                answer.whenComplete((prompt, failure) -> deadline.cancel());
                executor.execute(this);
            } catch (RuntimeException refused) {
                leaveRoom();
                settle(
                        null,
                        new TokenizerException(Failure.UNAVAILABLE, "the tokenizer's executor takes no more", refused));
            }
        }

        @Override
        public void run() {
            TokenizedPrompt prompt = null;
            // Stands if an error goes on to the executor.
            TokenizerException failure = new TokenizerException(Failure.UPSTREAM, "the tokenizer failed", null);
            try {
                if (!answer.isDone()) {
                    prompt = encode(request);
                }
            } catch (TokenizerException e) {
                failure = e;
            } catch (RuntimeException mayQuoteThePrompt) {
                failure = new TokenizerException(
                        Failure.UPSTREAM,
                        "the tokenizer or the chat template failed with "
                                + mayQuoteThePrompt.getClass().getName(),
                        null);
            } finally {
                // First, so that who asks one after the other needs room for but one.
                leaveRoom();
                settle(prompt, failure);
            }
        }

        private void leaveRoom() {
            if (inRoom.compareAndSet(true, false)) {
                room.leave(size);
            }
        }

        /** The first call counts. */
        void settle(@Nullable TokenizedPrompt prompt, TokenizerException failure) {
            if (prompt != null) {
                answer.complete(prompt);
            } else {
                answer.completeExceptionally(failure);
            }
        }
    }

    /** Collects the options of a {@link LocalTokenizer}; not thread-safe. */
    public static final class Builder {
        private final Path file;
        private final Executor executor;
        private final Scheduler scheduler;
        private @Nullable ChatTemplate template;
        private SpecialTokens completions = SpecialTokens.ADDED;
        private SpecialTokens chats = SpecialTokens.NONE;
        private Duration timeout = Duration.ofSeconds(5);
        private long maxRequestBytes = 16L << 20;
        private long maxBytes = 64L << 20;
        private int maxPrompts = 1024;

        private Builder(Path file, Executor executor, Scheduler scheduler) {
            this.file = Objects.requireNonNull(file, "file");
            this.executor = Objects.requireNonNull(executor, "executor");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Renders conversations. Without one, which is the default, they are refused. */
        public Builder chatTemplate(ChatTemplate template) {
            this.template = Objects.requireNonNull(template, "template");
            return this;
        }

        /** What is added to a completion's prompt. Default {@link SpecialTokens#ADDED}, as engines do unless a request says otherwise. */
        public Builder completions(SpecialTokens completions) {
            this.completions = Objects.requireNonNull(completions, "completions");
            return this;
        }

        /** What is added to a rendered conversation. Default {@link SpecialTokens#NONE}: templates write special tokens themselves. */
        public Builder chats(SpecialTokens chats) {
            this.chats = Objects.requireNonNull(chats, "chats");
            return this;
        }

        /** From {@link LocalTokenizer#tokenize} to the outcome. Default 5 s. */
        public Builder timeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException("timeout: " + timeout + " (expected: positive)");
            }
            this.timeout = timeout;
            return this;
        }

        /** A larger prompt is refused, a conversation also by its rendered characters. Default 16 MiB. */
        public Builder maxRequestBytes(long maxRequestBytes) {
            this.maxRequestBytes = requirePositive("maxRequestBytes", maxRequestBytes);
            return this;
        }

        /** A prompt that would take all prompts that wait or are tokenized above this is refused. Default 64 MiB. */
        public Builder maxBytes(long maxBytes) {
            this.maxBytes = requirePositive("maxBytes", maxBytes);
            return this;
        }

        /** More prompts that wait or are tokenized are refused. Default 1,024. */
        public Builder maxPrompts(int maxPrompts) {
            this.maxPrompts = (int) requirePositive("maxPrompts", maxPrompts);
            return this;
        }

        private static long requirePositive(String name, long value) {
            if (value < 1) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
            }
            return value;
        }

        /**
         * Reads the file, and blocks meanwhile.
         *
         * @throws IOException if the file cannot be read
         * @throws IllegalArgumentException if it is no {@code tokenizer.json}
         * @throws IllegalStateException if the native library cannot be loaded
         */
        public LocalTokenizer build() throws IOException {
            return over(NativeEncoder.load(file));
        }

        LocalTokenizer over(Encoder encoder) {
            return new LocalTokenizer(this, encoder);
        }
    }
}
