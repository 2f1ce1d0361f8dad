import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { caller, callerRefusal, whoIsThere } from './account.ts'
import { Refused, signInHref } from './bits.tsx'
import { boot } from './boot.ts'
import { instant } from './format.ts'
import { endLook, impersonation } from './impersonation.ts'
import { navigation } from './navigation.ts'
import { asOperator } from './operator-token.tsx'
import { openSearch, Search } from './search.tsx'

/** What surrounds every page. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation()
  const isOpen = useSignal(false)
  useEffect(() => {
    isOpen.value = false
  }, [path])
  useEffect(() => void whoIsThere(), [])
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <div class="inside">
          <a class="name" href="/">
            <svg width="22" height="22" viewBox="0 0 16 16" aria-hidden="true">
              <path
                d="M2 12l3.5-5 3.5 2.5L14 4"
                fill="none"
                stroke="currentColor"
                stroke-width="1.8"
              />
            </svg>
            {boot.service}
          </a>
          <nav aria-label="Main" id="nav" class={isOpen.value ? 'open' : ''}>
            <ul>
              {navigation().map(({ href, text }) => (
                <li key={href}>
                  <a href={href} aria-current={isAt(path, href) ? 'page' : undefined}>
                    {text}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div class="right">
            <button
              type="button"
              class="tight"
              aria-keyshortcuts="/ Control+K Meta+K"
              onClick={openSearch}
            >
              Search <kbd class="wide-only">/</kbd>
            </button>
            {boot.isSignedIn ? (
              <a class="who small" href="/account">
                {caller.value?.email ?? 'Account'}
              </a>
            ) : (
              <a class="small" href={signInHref()}>
                Sign in
              </a>
            )}
            <button
              type="button"
              class="menu tight"
              aria-expanded={isOpen.value}
              aria-controls="nav"
              onClick={() => {
                isOpen.value = !isOpen.value
              }}
            >
              Menu
            </button>
          </div>
        </div>
      </header>
      {boot.isEvaluation && (
        <aside class="ribbon" aria-label="Demo instance">
          <p>Demo instance: every number here is generated and belongs to no market.</p>
        </aside>
      )}
      {impersonation && (
        <aside class="ribbon look" aria-label="Impersonating an account">
          <p class="row spread">
            <span>
              You see what <b>{impersonation.email ?? impersonation.account_id}</b> sees, until{' '}
              {instant(impersonation.expires_at)}. Nothing can be changed.
            </span>
            <button type="button" class="tight" onClick={() => void leave()}>
              End impersonation
            </button>
          </p>
        </aside>
      )}
      {callerRefusal.value && (
        <div class="page-notice">
          <Refused error={callerRefusal.value} />
        </div>
      )}
      {children}
      <footer class="foot">
        <p>
          <span>{boot.service}</span>
          <a href="/docs">Documentation</a>
          <a href="/openapi.json" rel="external">
            OpenAPI
          </a>
          <a href="/status">Status</a>
          <a href="/operator">Operator</a>
        </p>
      </footer>
      <Search />
    </>
  )
}

/** Ends a look, also where the service has ended it already. */
async function leave(): Promise<void> {
  if (impersonation)
    await asOperator(`/admin/v1/looks/${impersonation.id}`, { method: 'DELETE' }).catch(() => {})
  endLook()
}

const isAt = (path: string, href: string): boolean =>
  path === href || (href !== '/' && path.startsWith(`${href}/`))
