import { type Signal, signal as shared, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { impersonation } from '../person/impersonation.ts'
import { boot } from './boot.ts'

/** An error response of the API, in its words. */
export class Refusal extends Error {
  override name = 'Refusal'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: unknown,
  ) {
    super(message)
  }
}

/** The service is too busy for a part of a page, and perhaps for all of them. */
export class Overloaded extends Refusal {}

const problemOf = (body: unknown): ProblemBody =>
  typeof body === 'object' && body !== null ? body : {}

/** The fields of an error, in any of the API's error shapes. */
export function detailsOf({ body }: Refusal): Record<string, unknown> {
  const problem = problemOf(body)
  return { ...(typeof problem.error === 'object' ? problem.error : problem) }
}

interface ProblemBody {
  message?: string
  code?: string
  error?: string | { message?: string; code?: string }
  errors?: { field: string; message: string; value?: unknown }[]
}

/** The message of an error, in any of the API's error shapes. */
function refusalOf(status: number, body: unknown, isOfPage: boolean): Refusal {
  const problem = problemOf(body)
  const nested = typeof problem.error === 'object' ? problem.error : undefined
  const fields = problem.errors?.map(faultText).join(' ')
  const message =
    fields ||
    nested?.message ||
    problem.message ||
    (typeof problem.error === 'string' ? problem.error : '') ||
    `The service answered ${status}.`
  const Kind = isOfPage && (status === 429 || status === 503) ? Overloaded : Refusal
  return new Kind(status, nested?.code ?? problem.code ?? String(status), message, body)
}

/** Most sentences name their field, and few the text that was wrong. */
function faultText({ field, message, value }: { field: string; message: string; value?: unknown }) {
  const sentence =
    message.startsWith(`${field}:`) || message.startsWith(`${field} `)
      ? message
      : `${field}: ${message}`
  const isNamed = typeof value !== 'string' || value === '' || message.includes(value)
  return isNamed ? sentence : `${sentence} It is “${value}”.`
}

export interface AskOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  body?: unknown
  /**
   * The admin token, used instead of the session. Null uses the session during an impersonation
   * too.
   */
  token?: string | null
  signal?: AbortSignal
  /** Other requests of the page go first. */
  isLater?: boolean
}

/** What waits for the first view of a page; undefined: nothing has to wait. */
let held: (() => void)[] | undefined

function release(): void {
  for (const send of held ?? []) send()
  held = undefined
}

/**
 * Holds later requests of a page back until its first view is here: a browser has six connections to
 * a host, and they would take all of them.
 */
export function useFirstView(isHere: boolean): void {
  useMemo(() => {
    held ??= []
  }, [])
  useEffect(() => {
    if (isHere) release()
  }, [isHere])
  useEffect(() => release, [])
}

/** What a page shows could not be requested. */
export class Unreachable extends Error {}

/** Set while the server does not respond: the frame says so, instead of every part of the page. */
export const isUnreachable = shared(false)

/** Browsers only say that a request has failed. Throws an error with the remedy. */
function failed(error: Error, isOfPage: boolean): never {
  if (error.name === 'AbortError') throw error
  const text = 'The server did not respond. Check the connection and try again.'
  if (!isOfPage) throw new Error(text)
  isUnreachable.value = true
  throw new Unreachable(text)
}

/** Set once the session or the impersonation has ended: the frame says so, instead of every part of the page. */
export const sessionEnd = shared<Refusal | undefined>(undefined)

/** One call of the API, with the session of the signed-in user. Throws `Refusal`. */
export async function ask<T>(path: string, options: AskOptions = {}): Promise<T> {
  const { method = 'GET', body, token = impersonation?.token, signal, isLater = false } = options
  if (isLater && held) await new Promise<void>(sent => held?.push(sent))
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    ...(isLater && { priority: 'low' }),
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch(error => failed(error as Error, method === 'GET'))
  isUnreachable.value = false
  const text = await response.text()
  const parsed: unknown = text === '' ? undefined : parsedText(text)
  if (response.ok) return parsed as T
  const refusal = refusalOf(response.status, parsed, method === 'GET')
  const isOfPage = typeof token !== 'string' || token === impersonation?.token
  if (refusal.code === 'UNAUTHORIZED' && boot.isSignedIn && isOfPage) sessionEnd.value = refusal
  throw refusal
}

/** A text as JSON, or as it is. */
export function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The `data` of a response. */
export const dataOf = async <T>(path: string, options?: AskOptions): Promise<T> =>
  (await ask<{ data: T }>(path, options)).data

export interface Loaded<T> {
  data: T | undefined
  refusal: Error | undefined
  isLoading: boolean
  /** Loads again; the shown data stays until the response arrives. */
  reload(): Promise<void>
  set(data: T): void
}

/** The result of `load`, loaded again whenever `key` changes. A key of undefined loads nothing. */
export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const data: Signal<T | undefined> = useSignal<T | undefined>(undefined)
  const refusal = useSignal<Error | undefined>(undefined)
  const isLoading = useSignal(false)
  /** The key of the last request. */
  const lastKey = useRef<string | undefined>(undefined)
  const latest = useRef<AbortController | undefined>(undefined)

  const run = async (): Promise<void> => {
    latest.current?.abort()
    const controller = new AbortController()
    latest.current = controller
    isLoading.value = true
    try {
      const answer = await load(controller.signal)
      if (controller.signal.aborted) return
      data.value = answer
      refusal.value = undefined
    } catch (error) {
      if (controller.signal.aborted) return
      refusal.value = error as Error
    }
    isLoading.value = false
  }

  useEffect(() => {
    lastKey.current = key
    if (key === undefined) {
      isLoading.value = false
      return undefined
    }
    void run()
    return () => latest.current?.abort()
  }, [key])

  return {
    data: data.value,
    refusal: refusal.value,
    // True as soon as there is something to load: the request is sent when the page is drawn.
    isLoading: isLoading.value || (key !== undefined && key !== lastKey.current),
    reload: run,
    set: answer => {
      data.value = answer
    },
  }
}

/**
 * Runs a change, and has what came of it: the error where it is refused, or the words of `work`. An
 * attempt resolves to whether it succeeded.
 */
export function useAttempt() {
  const refusal = useSignal<Error | undefined>(undefined)
  const result = useSignal('')
  const isBusy = useSignal(false)
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    isBusy.value = true
    result.value = ''
    try {
      const words = await work()
      if (typeof words === 'string') result.value = words
      refusal.value = undefined
    } catch (error) {
      refusal.value = error as Error
    }
    isBusy.value = false
    return refusal.value === undefined
  }
  return { refusal, result, isBusy, attempt }
}

/**
 * Sends a change of what a page shows, and loads it again. `then` gets the response to a change that
 * was not refused, and may return the words of its success.
 */
export function useChange(shown: Pick<Loaded<unknown>, 'reload'>, send: typeof ask = ask) {
  const { attempt, ...outcome } = useAttempt()
  const change = <T>(
    path: string,
    method: NonNullable<AskOptions['method']>,
    body?: unknown,
    then?: (answer: T) => unknown,
  ) =>
    attempt(async () => {
      try {
        const answer = await send<T>(path, { method, ...(body !== undefined && { body }) })
        return then?.(answer)
      } finally {
        // Another tab may have changed what was refused.
        await shown.reload()
      }
    })
  return { ...outcome, attempt, change }
}

/** The response, or undefined where there is none yet: the API answers 404. */
export const whereThere = <T>(response: Promise<T>): Promise<T | undefined> =>
  response.catch(error => {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw error
  })

/** Loads a response of the API, and again when the path is another one; nothing without a path. */
export const useAnswer = <T>(path: string | undefined, isLater = false): Loaded<T> =>
  useLoaded(path, signal => ask<T>(path!, { signal, isLater }))

/** The same of the field `data` of a response. */
export const useData = <T>(path: string | undefined, isLater = false): Loaded<T> =>
  useLoaded(path, signal => dataOf<T>(path!, { signal, isLater }))
