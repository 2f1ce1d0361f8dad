import { sleep } from '../lib/time/clock.ts'

const unavailable = 503
const retriesMax = 5
const waitDefaultSeconds = 5
const waitSecondsMax = 15

interface SendAgainDeps {
  /** Shows a line to the waiting user. */
  notify?: (line: string) => void
  wait?: (ms: number) => Promise<void>
}

/** Shows only the first line on standard error, so that repeated attempts do not repeat it. */
export function notifyOnce(): (line: string) => void {
  let hasNotified = false
  return line => {
    if (!hasNotified) process.stderr.write(`${line}\n`)
    hasNotified = true
  }
}

/**
 * Repeats a request while its response is a 503 with `"retryable": true`: after the seconds that it
 * names, five times at most, with one line for the user. Only for requests that may be repeated.
 */
export async function sendAgain(
  send: () => Promise<Response>,
  { notify = notifyOnce(), wait = sleep }: SendAgainDeps = {},
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    const response = await send()
    if (response.status !== unavailable || retries >= retriesMax) return response
    const refusal = retryableOf(await response.clone().text())
    if (!refusal) return response
    await response.body?.cancel()
    const seconds = Number(response.headers.get('retry-after') ?? waitDefaultSeconds)
    const waitSeconds = Number.isFinite(seconds)
      ? Math.min(seconds, waitSecondsMax)
      : waitSecondsMax
    if (retries === 0)
      notify(`The server answers ${refusal.code}: trying again, up to ${retriesMax} times.`)
    await wait(waitSeconds * 1000)
  }
}

interface Refusal {
  code?: string
  retry?: { retryable?: boolean }
}

/** The error in the body, if it allows the request to be sent again. */
function retryableOf(text: string): Refusal | undefined {
  try {
    const body = JSON.parse(text) as Refusal & { error?: Refusal }
    const refusal = body.error ?? body
    return refusal.retry?.retryable === true ? refusal : undefined
  } catch {
    return undefined
  }
}
