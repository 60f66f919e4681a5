#!/usr/bin/env php
<?php
// Orders of a Balcão checkout, with nothing but PHP. README.md beside this file explains each step.
//
//   orders.php create REFERENCE AMOUNT DESCRIPTION
//   orders.php verify ID TIMESTAMP SIGNATURES < BODY
//   orders.php refund NUMBER PAYMENT [AMOUNT]

declare(strict_types=1);

/** Makes the order of this reference; its buyer pays at the `url` of the answer. */
function create_order(string $reference, string $amount, string $description): object
{
    $order = ['reference' => $reference, 'amount' => (float) $amount, 'description' => $description];
    return post('/orders/', "order-$reference", $order);
}

/** Gives back an amount of a payment, or all that is left. `$number` is the shop's own for this refund. */
function refund(string $number, string $payment, ?string $amount = null): object
{
    $part = $amount === null ? new stdClass() : ['amount' => (float) $amount];
    return post("/payments/$payment/refunds", "refund-$number", $part);
}

/** Asks again when no final answer comes. The key is the same, so that nothing is done twice. */
function post(string $path, string $key, array|object $body): object
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . setting('CHECKOUT_KEY'),
            'Content-Type: application/json',
            "Idempotency-Key: $key",
        ],
        'content' => json_encode($body, JSON_THROW_ON_ERROR),
        'timeout' => 60,
        'follow_location' => 0,
        'ignore_errors' => true, // the answers that are not 200 have bodies, too
    ]]);
    $problem = '';
    foreach ([0, 2, 4, 8] as $wait) {
        sleep($wait);
        $stream = @fopen(setting('CHECKOUT_URL') . $path, 'r', false, $context);
        if ($stream === false) {
            $problem = 'no answer: ' . (error_get_last()['message'] ?? '');
            continue;
        }
        $status = (int) explode(' ', stream_get_meta_data($stream)['wrapper_data'][0])[1];
        $text = (string) stream_get_contents($stream);
        $answer = json_decode($text);
        if ($status < 300 && is_object($answer)) {
            return $answer;
        }
        $problem = $text;
        $running = $status === 409 && str_contains($text, 'Idempotency-Key');
        if ($status >= 300 && $status < 500 && $status !== 429 && !$running) {
            break;
        }
    }
    throw new RuntimeException($problem);
}

/** The event in `$body`, if one of the signatures is the checkout's. The others come from its headers. */
function verify_event(string $id, string $timestamp, string $signatures, string $body): object
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        throw new RuntimeException('the timestamp is not of the last five minutes');
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', setting('CHECKOUT_WEBHOOK_SECRET')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // A new secret is valid beside the old one for a while: then there are two signatures.
    foreach (explode(' ', $signatures) as $one) {
        if (hash_equals($expected, $one)) {
            return json_decode($body, flags: JSON_THROW_ON_ERROR);
        }
    }
    throw new RuntimeException("no signature is the checkout's");
}

function setting(string $name): string
{
    return getenv($name) ?: throw new RuntimeException("$name is not set");
}

function main(array $arguments): object
{
    $command = array_shift($arguments);
    return match ([$command, count($arguments)]) {
        ['create', 3] => create_order(...$arguments),
        ['verify', 3] => verify_event(...[...$arguments, (string) file_get_contents('php://stdin')]),
        ['refund', 2], ['refund', 3] => refund(...$arguments),
        default => throw new RuntimeException('create REFERENCE AMOUNT DESCRIPTION | '
            . 'verify ID TIMESTAMP SIGNATURES | refund NUMBER PAYMENT [AMOUNT]'),
    };
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    try {
        echo json_encode(main(array_slice($argv, 1)), JSON_THROW_ON_ERROR), "\n";
    } catch (RuntimeException $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        exit(1);
    }
}
