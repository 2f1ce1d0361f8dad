import { signal, useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Action } from '../../plans/roles/roles.ts'
import { Copy } from './buttons.tsx'
import { Offer } from './person/offer.tsx'
import { loadsAll } from './print.ts'
import {
  detailsOf,
  isUnreachable,
  type Loaded,
  Overloaded,
  Refusal,
  sessionEnd,
  Unreachable,
  type useAttempt,
} from './requests/ask.ts'
import { boot, mayDo } from './requests/boot.ts'

/** Controls that only some roles of an organization may use. */
export const May = ({ action, children }: { action: Action; children: ComponentChildren }) =>
  mayDo(action) ? children : null

export type Mood = 'good' | 'warn' | 'bad'

export function Notice({ mood, children }: { mood?: Mood; children: ComponentChildren }) {
  return (
    <div class={`notice ${mood ?? ''}`} role={mood === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

export function Tag({ mood, children }: { mood?: Mood | undefined; children: ComponentChildren }) {
  return <span class={`tag ${mood ?? ''}`}>{children}</span>
}

/** Content below the first view: it is loaded when a reader scrolls to it, or prints the page. */
export function Below({ children }: { children: ComponentChildren }) {
  const isNear = useSignal(false)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!place.current) return undefined
    const watch = new IntersectionObserver(([entry]) => {
      isNear.value ||= entry?.isIntersecting ?? false
    })
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [])
  useEffect(() => {
    isNear.value ||= loadsAll.value
  }, [loadsAll.value])
  return isNear.value ? children : <div ref={place} class="below" />
}

/** The next step where there is no data; to a customer, the pages of operators are closed. */
export const WhoBringsData = () =>
  boot.isSignedIn && !boot.isOperator ? (
    <>The operator imports files or enables public feeds.</>
  ) : (
    <>
      The operator <a href="/operator/data">imports files</a> or{' '}
      <a href="/operator/feeds">enables public feeds</a>.
    </>
  )

/** Says what is missing where there is no data, with the next step. */
export const noData = (text: string) => (
  <>
    {text} <WhoBringsData />
  </>
)

/** The error code for data that does not exist yet, which is not a fault. */
const absent = 'DATA_NOT_AVAILABLE'

/** The parts of the page that the service was too busy for, each with the code of its refusal. */
const busyParts = signal<readonly { code: string }[]>([])

/** Only the first part with a code shows it: a page requests many parts at once. */
function Busy({ error: { code, message } }: { error: Overloaded }) {
  const part = useMemo(() => ({ code }), [code])
  useEffect(() => {
    busyParts.value = [...busyParts.value, part]
    return () => {
      busyParts.value = busyParts.value.filter(other => other !== part)
    }
  }, [part])
  const first = busyParts.value.find(other => other.code === code)
  return first === part ? <Notice mood="bad">{message}</Notice> : null
}

/**
 * An error in the words of the API, with the remedy where it is known. `about`: what a plan that
 * includes it would show here, where this is one part of a feature.
 */
export function Refused({ error, about }: { error: Error; about?: string | undefined }) {
  if (error instanceof Refusal && error.code === absent)
    return (
      <Empty>
        <p>{error.message}</p>
        <p>
          <WhoBringsData />
        </p>
      </Empty>
    )
  if (error instanceof Refusal && detailsOf(error).upgrade_required === true)
    return (
      <Offer
        features={[String(detailsOf(error).required_feature)]}
        planId={detailsOf(error).required_plan}
        message={`${error.message.split('. ')[0]}.`}
        about={about}
      />
    )
  if (error instanceof Overloaded) return <Busy error={error} />
  const isUnauthorized = error instanceof Refusal && error.status === 401
  if (isUnauthorized && sessionEnd.value) return null
  if (error instanceof Unreachable && isUnreachable.value) return null
  return (
    <Notice mood="bad">
      {error.message} {isUnauthorized && <a href={signInHref()}>Sign in</a>}
    </Notice>
  )
}

export type Outcome = Pick<ReturnType<typeof useAttempt>, 'refusal' | 'result'>

/** What came of a change: the refusal, or the words of its success. */
export const Result = ({ refusal, result }: Outcome) => (
  <>
    {refusal.value && <Refused error={refusal.value} />}
    {result.value && <Notice mood="good">{result.value}</Notice>}
  </>
)

export const signInHref = (page = location.pathname + location.search): string =>
  `/sign-in?next=${encodeURIComponent(page)}`

export function Waiting({ what }: { what: string }) {
  return (
    <p class="waiting" role="status">
      Loading {what} …
    </p>
  )
}

/** Renders loaded data; before that, a waiting message or the error. */
export function Shown<T>({
  of,
  what,
  about,
  children,
}: {
  of: Loaded<T>
  what: string
  about?: string
  children: (data: T) => ComponentChildren
}) {
  return (
    <>
      {of.refusal && <Refused error={of.refusal} about={about} />}
      {of.data !== undefined ? children(of.data) : of.isLoading && <Waiting what={what} />}
    </>
  )
}

/** Shown where there is no data: a sentence, or parts below each other. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

/** A card that says what is missing on a page, with the next step. */
export const NoData = ({ text }: { text: string }) => (
  <section class="card">
    <Empty>{noData(text)}</Empty>
  </section>
)

/** An address or a code, broken between its parts where it does not fit a line. */
export function Parted({ text }: { text: string }) {
  const parts = text.split(/(?<=[@._/])/)
  return (
    <>
      {parts.map((part, i) => (
        <Fragment key={String(i)}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}

export function Figure({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="figure">
      <span>{label}</span>
      <b>{children}</b>
    </div>
  )
}

/** A secret that is never shown again, ready to be copied. */
export const ShownOnce = ({ what, secret }: { what: string; secret: string }) => (
  <Notice mood="good">
    <div class="row spread">
      <span>
        {what} <code>{secret}</code>
      </span>
      <Copy text={secret} className="tight" />
    </div>
  </Notice>
)

/** How much of a limit is used, as a bar. */
export function Share({ used, limit }: { used: number; limit: number }) {
  const share = limit === 0 ? 0 : (100 * used) / limit
  return (
    <div class={`bar ${share > 90 ? 'bad' : share > 70 ? 'warn' : ''}`}>
      <i style={{ width: `${Math.min(100, share)}%` }} />
    </div>
  )
}
