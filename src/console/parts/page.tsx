import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Notice, Shown, signInHref } from './bits.tsx'
import { Button } from './buttons.tsx'
import { endLook, impersonation } from './person/impersonation.ts'
import { type Loaded, Refusal, sessionEnd } from './requests/ask.ts'
import { boot } from './requests/boot.ts'

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
