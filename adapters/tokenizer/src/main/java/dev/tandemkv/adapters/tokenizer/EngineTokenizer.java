package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.catalog.time.Scheduler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * The engine's own tokenizer, over {@code POST /tokenize} as vLLM serves it: what it answers is what the engine will see, its chat template
 * and the tools of a request included. What the client sent is passed on byte for byte, a prompt's escapes included, and is not copied here:
 * what the HTTP client copies on its way to the socket is all.
 *
 * <p>Media are told apart by {@link MediaIdentity}.
 *
 * <p>Thread-safe. The caller's client brings the threads and the connections, which are reused; it stays the caller's.
 */
public final class EngineTokenizer implements Tokenizer {

    private final HttpClient client;
    private final Scheduler scheduler;
    private final URI endpoint;
    private final Duration timeout;
    private final long maxRequestBytes;
    private final int maxResponseBytes;
    private final int maxConcurrent;
    private final Semaphore permits;
    private final JsonFactory json = new JsonFactory();
    /** Those that hold a permit. */
    private final Set<Call> open = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private EngineTokenizer(Builder builder) {
        client = builder.client;
        scheduler = builder.scheduler;
        endpoint = builder.service.resolve("/tokenize");
        timeout = builder.timeout;
        maxRequestBytes = builder.maxRequestBytes;
        maxResponseBytes = builder.maxResponseBytes;
        maxConcurrent = builder.maxConcurrent;
        permits = new Semaphore(maxConcurrent);
    }

    /**
     * @param client sends; HTTP/1.1 or 2, as it is set up
     * @param service base address of an engine or of a service that speaks like one, for example {@code http://127.0.0.1:8000}
     * @param scheduler runs timeouts; what depends on an answer that came too late continues on its thread
     */
    public static Builder builder(HttpClient client, URI service, Scheduler scheduler) {
        return new Builder(client, service, scheduler);
    }

    @Override
    public CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request) {
        Objects.requireNonNull(request, "request");
        if (request.bytes() > maxRequestBytes) {
            return failed(
                    Failure.INVALID_REQUEST,
                    "prompt: " + request.bytes() + " bytes (expected: <= " + maxRequestBytes + ")");
        }
        if (closed) {
            return failed(Failure.UNAVAILABLE, "the tokenizer is closed");
        }
        if (!permits.tryAcquire()) {
            return failed(Failure.UNAVAILABLE, "more than " + maxConcurrent + " prompts at once");
        }
        Call call = new Call();
        open.add(call);
        try {
            ask(call, request);
        } catch (TokenizerException e) {
            call.fail(e);
        } catch (RuntimeException e) {
            call.fail(new TokenizerException(Failure.UNAVAILABLE, "the tokenizer cannot be asked", e));
        }
        if (closed) {
            call.fail(new TokenizerException(Failure.UNAVAILABLE, "the tokenizer is closed", null));
        }
        return call.answer;
    }

    private void ask(Call call, TokenizeRequest request) {
        HttpRequest question = httpRequest(request);
        Scheduler.Task deadline = scheduler.schedule(
                timeout,
                () -> call.fail(new TokenizerException(Failure.TIMEOUT, "the tokenizer did not answer in time", null)));
        call.answer.whenComplete((tokens, failure) -> {
            call.release();
            deadline.cancel();
        });
        CompletableFuture<HttpResponse<byte[]>> exchange =
                client.sendAsync(question, info -> new BoundedBody(maxResponseBytes));
        call.answer.whenComplete((tokens, failure) -> {
            if (failure != null) {
                exchange.cancel(true);
            }
        });
        exchange.whenComplete((response, failure) -> complete(call, request, response, failure));
    }

    private HttpRequest httpRequest(TokenizeRequest request) {
        if (request instanceof TokenizeRequest.Chat && request.bytes() == 0) {
            throw new TokenizerException(Failure.INVALID_REQUEST, "body: empty (expected: a JSON object)", null);
        }
        List<ByteBuffer> body = request instanceof TokenizeRequest.Chat chat
                ? chat.body()
                : CompletionBody.of((TokenizeRequest.Completion) request);
        return HttpRequest.newBuilder(endpoint)
                // Ends with the answer's first byte, but ends a connection attempt too.
                .timeout(timeout)
                .header("content-type", "application/json")
                .POST(BodyPublishers.fromPublisher(new Pieces(body), Pieces.bytes(body)))
                .build();
    }

    private void complete(Call call, TokenizeRequest request, HttpResponse<byte[]> response, Throwable failure) {
        try {
            if (failure != null) {
                throw typed(failure);
            }
            checkStatus(response.statusCode());
            int[] tokens = TokensReader.read(response.body(), json);
            List<long[]> identity = request instanceof TokenizeRequest.Chat chat ? MediaIdentity.of(chat) : List.of();
            call.succeed(new TokenizedPrompt(tokens, identity));
        } catch (TokenizerException e) {
            call.fail(e);
        } catch (IOException quotesTheAnswer) {
            call.fail(new TokenizerException(Failure.UPSTREAM, "the tokenizer's answer cannot be read", null));
        } catch (RuntimeException e) {
            call.fail(new TokenizerException(Failure.UPSTREAM, "the tokenizer's answer cannot be read", e));
        }
    }

    private static TokenizerException typed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof TokenizerException typed) {
            return typed;
        }
        return cause instanceof HttpTimeoutException
                ? new TokenizerException(Failure.TIMEOUT, "the tokenizer did not answer in time", cause)
                : new TokenizerException(Failure.UNAVAILABLE, "the tokenizer cannot be reached", cause);
    }

    private static void checkStatus(int status) {
        if (status >= 200 && status < 300) {
            return;
        }
        Failure failure = switch (status) {
            case 400, 413, 422 -> Failure.INVALID_REQUEST;
            case 429, 503 -> Failure.UNAVAILABLE;
            case 408, 504 -> Failure.TIMEOUT;
            default -> Failure.UPSTREAM;
        };
        throw new TokenizerException(failure, "the tokenizer answered with status " + status, null);
    }

    private static CompletionStage<TokenizedPrompt> failed(Failure failure, String message) {
        return CompletableFuture.failedFuture(new TokenizerException(failure, message, null));
    }

    @Override
    public void close() {
        closed = true;
        for (Call call : open) {
            call.fail(new TokenizerException(Failure.UNAVAILABLE, "the tokenizer is closed", null));
        }
    }

    /** One prompt under way. Its permit is back before the outcome is told, so that who asks one after the other needs but one. */
    private final class Call {
        private final CompletableFuture<TokenizedPrompt> answer = new CompletableFuture<>();

        void succeed(TokenizedPrompt prompt) {
            release();
            answer.complete(prompt);
        }

        void fail(TokenizerException failure) {
            release();
            answer.completeExceptionally(failure);
        }

        /** Idempotent; any thread. */
        void release() {
            if (open.remove(this)) {
                permits.release();
            }
        }
    }

    /** Collects the options of an {@link EngineTokenizer}; not thread-safe. */
    public static final class Builder {
        private final HttpClient client;
        private final URI service;
        private final Scheduler scheduler;
        private Duration timeout = Duration.ofSeconds(5);
        private long maxRequestBytes = 16L << 20;
        private int maxResponseBytes = 16 << 20;
        private int maxConcurrent = 1024;

        private Builder(HttpClient client, URI service, Scheduler scheduler) {
            this.client = Objects.requireNonNull(client, "client");
            this.service = Objects.requireNonNull(service, "service");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            if (service.getHost() == null || !Set.of("http", "https").contains(service.getScheme())) {
                throw new IllegalArgumentException("service: " + service + " (expected: http://host:port)");
            }
        }

        /** From sending to the end of the answer. Default 5 s. */
        public Builder timeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException("timeout: " + timeout + " (expected: positive)");
            }
            this.timeout = timeout;
            return this;
        }

        /** Larger prompts are refused. Default 16 MiB. */
        public Builder maxRequestBytes(long maxRequestBytes) {
            this.maxRequestBytes = requirePositive("maxRequestBytes", maxRequestBytes);
            return this;
        }

        /** A larger answer is a failure of the tokenizer's. Default 16 MiB. */
        public Builder maxResponseBytes(int maxResponseBytes) {
            this.maxResponseBytes = (int) requirePositive("maxResponseBytes", maxResponseBytes);
            return this;
        }

        /** More prompts at once are refused. Default 1,024. */
        public Builder maxConcurrent(int maxConcurrent) {
            this.maxConcurrent = (int) requirePositive("maxConcurrent", maxConcurrent);
            return this;
        }

        private static long requirePositive(String name, long value) {
            if (value < 1) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
            }
            return value;
        }

        public EngineTokenizer build() {
            return new EngineTokenizer(this);
        }
    }
}
