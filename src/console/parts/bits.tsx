import { type Signal, signal, useSignal } from '@preact/signals'
import {
  type ComponentChildren,
  type ComponentType,
  createContext,
  Fragment,
  type JSX,
} from 'preact'
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Action } from '../../plans/roles/roles.ts'
import { endLook, impersonation } from './person/impersonation.ts'
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
import { bound } from './text/form.ts'

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

/** An error in the words of the API, with the remedy where it is known. */
export function Refused({ error }: { error: Error }) {
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

/** What came of a change: the refusal, or the words of its success. */
export const Result = ({
  refusal,
  result,
}: Pick<ReturnType<typeof useAttempt>, 'refusal' | 'result'>) => (
  <>
    {refusal.value && <Refused error={refusal.value} />}
    {result.value && <Notice mood="good">{result.value}</Notice>}
  </>
)

/** Says once that the session or the impersonation has ended, with the way back. */
export function SessionEnd() {
  const { url } = useLocation()
  if (!sessionEnd.value) return null
  return (
    <div class="page-notice">
      <Notice mood="bad">
        <div class="row spread">
          {impersonation ? (
            <>
              <span>The impersonation has ended.</span>
              <Button className="main" label="Return to the customers" onClick={endLook} />
            </>
          ) : (
            <>
              <span>Your session has ended. Sign in to return to this page.</span>
              <a class="button main" href={signInHref(url)}>
                Sign in
              </a>
            </>
          )}
        </div>
      </Notice>
    </div>
  )
}

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
  children,
}: {
  of: Loaded<T>
  what: string
  children: (data: T) => ComponentChildren
}) {
  return (
    <>
      {of.refusal && <Refused error={of.refusal} />}
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

interface PageProps {
  title: string
  /** A sentence under the heading. */
  about?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

let pagesShown = 0

/** A page with its heading; it gets the focus when it is gone to from another. */
export function Page({ title, about, actions, children }: PageProps) {
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    if (pagesShown > 0) main.current?.focus({ preventScroll: true })
    pagesShown += 1
  }, [])
  useEffect(() => {
    document.title = title === boot.service ? title : `${title} · ${boot.service}`
  }, [title])
  return (
    <main class="page" id="content" tabIndex={-1} ref={main}>
      <div class="head">
        <div class="stack" style={{ gap: 'var(--s1)' }}>
          <h1>{title}</h1>
          {about !== undefined && <p>{about}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </main>
  )
}

/** A page whose subject is loading, refused or unknown, with the way to its list. */
export function Absent({
  title,
  of,
  href,
  text,
}: {
  title: string
  of: Loaded<unknown>
  href: string
  text: string
}) {
  const isUnknown = of.refusal instanceof Refusal && of.refusal.status === 404
  return (
    <Page title={isUnknown ? `${title} not found` : title}>
      {isUnknown ? (
        <section class="card">
          <p class="break">{of.refusal?.message} It may have been deleted.</p>
          <p>
            <a class="button main" href={href}>
              {text}
            </a>
          </p>
        </section>
      ) : (
        <Shown of={of} what={`the ${title.toLowerCase()}`}>
          {() => null}
        </Shown>
      )}
    </Page>
  )
}

/** For visitors who are not signed in. */
export const SignInLinks = () => (
  <>
    <a class="button main" href={signInHref()}>
      Sign in
    </a>
    <a class="button" href="/signup">
      Get a key
    </a>
  </>
)

/** Wraps pages of members: anonymous visitors read what the page shows, and where to sign in. */
export function Members({
  title,
  about,
  children,
}: {
  title: string
  /** What the page shows, in a sentence or two. */
  about: string
  children: () => ComponentChildren
}) {
  if (boot.isSignedIn) return <>{children()}</>
  return (
    <Page title={title} about={about}>
      <div class="columns">
        <section class="card" aria-labelledby="sign-in">
          <h2 id="sign-in">Sign in to see this page</h2>
          <p>Use your password or a link sent by e-mail. You then return to this page.</p>
          <p class="row">
            <SignInLinks />
          </p>
        </section>
        <section class="card" aria-labelledby="open">
          <h2 id="open">Open to everyone</h2>
          <ul class="plain">
            <li>
              <a href="/">Latest prices</a> of the main benchmarks
            </li>
            <li>
              <a href="/docs">Documentation</a> of the API, with calls to try
            </li>
            <li>
              <a href="/status">Status</a> of the service and its data
            </li>
          </ul>
        </section>
      </div>
    </Page>
  )
}

/** The row of a table that a button is in, by name: a screen reader reads buttons outside of it. */
export const RowName = createContext('')

interface Named {
  label: string
  /** What it is about, where this is not the row that it is in. */
  of?: string | undefined
}

/** The words of a button with what it is about; undefined where it is about the page. */
function useName({ label, of }: Named): string | undefined {
  const row = useContext(RowName)
  const subject = of ?? row
  return subject ? `${label} ${subject}` : undefined
}

interface ButtonProps extends Named {
  className?: string
  isPressed?: boolean
  isOff?: boolean
  onClick: () => unknown
}

/** A button that says only words. Off, it still keeps the focus: a press may turn it off itself. */
export const Button = ({ label, of, className, isPressed, isOff, onClick }: ButtonProps) => (
  <button
    type="button"
    class={className}
    aria-label={useName({ label, of })}
    aria-pressed={isPressed}
    aria-disabled={isOff}
    onClick={() => isOff || void onClick()}
  >
    {label}
  </button>
)

/** A button that is a picture: screen readers have its words, and so has its tooltip. */
export const IconButton = ({
  label,
  icon: Drawn,
  className = 'plain tight',
  isPressed,
  onClick,
}: Pick<ButtonProps, 'label' | 'className' | 'isPressed' | 'onClick'> & {
  icon: ComponentType<{ size: number; 'aria-hidden': 'true' }>
}) => (
  <button
    type="button"
    class={className}
    title={label}
    aria-label={label}
    aria-pressed={isPressed}
    onClick={() => void onClick()}
  >
    <Drawn size={15} aria-hidden="true" />
  </button>
)

/** Copies a text and confirms it. */
export function Copy({
  text,
  label = 'Copy',
  className = '',
}: {
  text: string | (() => string)
  label?: string
  className?: string
}) {
  const outcome = useSignal('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      outcome.value = 'Copied'
    } catch {
      outcome.value = 'Could not copy'
    }
    setTimeout(() => {
      outcome.value = ''
    }, 2000)
  }
  return (
    <button type="button" class={className} onClick={copy}>
      {outcome.value || label}
      <span class="only-heard" role="status">
        {outcome.value}
      </span>
    </button>
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

/** Saves a text as a file, without asking the server. */
export const save = (name: string, type: string, text: string): void =>
  saveBlob(name, new Blob([text], { type }))

export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

type InputProps = JSX.IntrinsicElements['input'] & { label: string; labelClass?: string }

/** A field with its name above it. */
export const Input = ({ label, labelClass, ...field }: InputProps) => (
  <label class={labelClass}>
    {label}
    <input {...field} />
  </label>
)

interface SearchFieldProps {
  label: string
  placeholder: string
  of: Signal<string>
  className?: string
}

/** A field that narrows what is next to it, tied to a signal; its name is for screen readers. */
export const SearchField = ({ label, placeholder, of, className = '' }: SearchFieldProps) => (
  <input
    type="search"
    class={`tight ${className}`}
    aria-label={label}
    placeholder={placeholder}
    {...bound(of)}
  />
)

/** The button that sends its form. */
export const Submit = ({ children }: { children: ComponentChildren }) => (
  <button type="submit" class="main">
    {children}
  </button>
)

interface OptionsProps {
  /** Each with its text, or words that `textOf` turns into texts. */
  of: readonly (string | { value: string; text: string })[]
  textOf?: ((word: string) => string) | undefined
}

type SelectProps = OptionsProps &
  Pick<JSX.IntrinsicElements['select'], 'class' | 'name' | 'onChange' | 'value'> & {
    label: ComponentChildren
    labelClass?: string
    /** The text of no choice, which comes first. */
    none?: string
  }

/** A choice of many with its name above it. */
export const Select = ({ label, labelClass, of, textOf, none, ...field }: SelectProps) => (
  <label class={labelClass}>
    {label}
    <select {...field}>
      {none !== undefined && <option value="">{none}</option>}
      <Options of={of} textOf={textOf} />
    </select>
  </label>
)

export function Options({ of, textOf = word => word }: OptionsProps) {
  return of.map(each => {
    const { value, text } = typeof each === 'string' ? { value: each, text: textOf(each) } : each
    return (
      <option key={value} value={value}>
        {text}
      </option>
    )
  })
}

/** A choice of yes or no, tied to a signal. */
export const Check = ({ of, children }: { of: Signal<boolean>; children: string }) => (
  <label class="inline">
    <input
      type="checkbox"
      checked={of.value}
      onChange={event => {
        of.value = event.currentTarget.checked
      }}
    />
    {children}
  </label>
)

/** A choice of few, as pressed buttons. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  label: string
  value: T
  options: readonly { value: T; text: string }[]
  onChoose: (value: T) => void
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame around five buttons
    <div class="group" role="group" aria-label={label}>
      {options.map(option => (
        <button
          type="button"
          key={option.value}
          aria-pressed={option.value === value}
          onClick={() => onChoose(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  )
}

/** Asks before what cannot be taken back. */
export function Confirmed({
  label,
  of,
  question,
  onConfirm,
  className = 'tight danger',
}: Named & {
  question: string
  onConfirm: () => unknown
  className?: string
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <Button
        className={className}
        label={label}
        of={of}
        onClick={() => dialog.current?.showModal()}
      />
      <dialog ref={dialog} aria-label={useName({ label, of }) ?? label}>
        <div class="stack">
          <p>{question}</p>
          <div class="row">
            {/* First, so that it has the focus: Enter must not do what cannot be taken back. */}
            <Button label="Cancel" of="" onClick={() => dialog.current?.close()} />
            <Button
              className="danger"
              label={label}
              onClick={() => {
                dialog.current?.close()
                void onConfirm()
              }}
            />
          </div>
        </div>
      </dialog>
    </>
  )
}

/** A panel at the side, over the page that it belongs to; Escape closes it. */
export function Side({
  label,
  onClose,
  children,
}: {
  label: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class="side" ref={dialog} aria-label={label} onClose={onClose}>
      <div class="stack">
        <header class="row spread">
          <h2>{label}</h2>
          <Button className="tight" label="Close" onClick={() => dialog.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** How much of a limit is used, as a bar. */
export function Share({ used, limit }: { used: number; limit: number }) {
  const share = limit === 0 ? 0 : (100 * used) / limit
  return (
    <div class={`bar ${share > 90 ? 'bad' : share > 70 ? 'warn' : ''}`}>
      <i style={{ width: `${Math.min(100, share)}%` }} />
    </div>
  )
}

/** A box that scrolls sideways where the window is narrow, by keyboard too. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: nothing in it takes the focus that scrolls it
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
