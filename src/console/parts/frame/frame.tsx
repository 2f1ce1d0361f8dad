import { useSignal } from '@preact/signals'
import { Monitor, Moon, PanelLeft, Rows4, Search as SearchIcon, Sun } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Parted, Refused, signInHref } from '../bits.tsx'
import { Button, IconButton } from '../buttons.tsx'
import { NotLoaded } from '../later.tsx'
import { SessionEnd } from '../page.tsx'
import { caller, callerRefusal, whoIsThere } from '../person/account.ts'
import { endLook, impersonation } from '../person/impersonation.ts'
import { asOperator } from '../person/operator-token.tsx'
import { prefer, preferenceRefusal, preferences } from '../person/preferences.ts'
import { isUnreachable, sessionEnd } from '../requests/ask.ts'
import { boot } from '../requests/boot.ts'
import { sets } from '../text/form.ts'
import { instant } from '../text/format.ts'
import { Icon, type IconName } from './icons.tsx'
import { Keys } from './keys.tsx'
import { navigation, partsOf } from './navigation.ts'
import { openSearch, Search } from './search.tsx'

/** The frame of every page: the navigation, with the page at its right. */
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
      <header class="rail">
        <div class="row spread">
          <a class={`name ${boot.service.length > 24 ? 'long' : ''}`} href="/" title={boot.service}>
            <svg width="24" height="24" viewBox="0 0 16 16" aria-hidden="true">
              <rect width="16" height="16" rx="4" fill="currentColor" />
              <path d="M3 11l3-4 3 2 4-5" fill="none" stroke-width="1.6" class="mark" />
            </svg>
            <span>{boot.service}</span>
          </a>
          <button
            type="button"
            class="menu tight"
            aria-expanded={isOpen.value}
            aria-controls="nav"
            onClick={sets(isOpen, !isOpen.value)}
          >
            Menu
          </button>
        </div>
        <button
          type="button"
          class="find"
          aria-label="Search"
          aria-keyshortcuts="/ Control+K Meta+K"
          onClick={openSearch}
        >
          <SearchIcon size={16} aria-hidden="true" /> <span>Search</span> <kbd>/</kbd>
        </button>
        <div id="nav" class={isOpen.value ? 'open' : ''}>
          <nav aria-label="Main">
            <ul>
              {navigation().map(section => (
                <Section key={section.href} {...section} path={path} />
              ))}
            </ul>
          </nav>
          <div class="foot">
            {boot.isSignedIn ? (
              <a class="who small" href="/account">
                <Parted text={caller.value?.email ?? 'Account'} />
              </a>
            ) : (
              <a class="small" href={signInHref()}>
                Sign in
              </a>
            )}
            <Appearance />
          </div>
        </div>
      </header>
      <div class="beside">
        {boot.isEvaluation && (
          <aside class="ribbon" aria-label="Demo instance">
            <p>Demo instance: all numbers are generated.</p>
          </aside>
        )}
        {impersonation && !sessionEnd.value && (
          <aside class="ribbon look" aria-label="Impersonating an account">
            <p class="row spread">
              <span>
                You see what <b>{impersonation.email ?? impersonation.account_id}</b> sees, until{' '}
                {instant(impersonation.expires_at)}. Nothing can be changed.
              </span>
              <Button className="tight" label="End impersonation" onClick={() => leave()} />
            </p>
          </aside>
        )}
        <SessionEnd />
        {isUnreachable.value && (
          <div class="page-notice">
            <NotLoaded />
          </div>
        )}
        {[callerRefusal, preferenceRefusal].map(
          ({ value: error }) =>
            error && (
              <div class="page-notice" key={error.message}>
                <Refused error={error} />
              </div>
            ),
        )}
        {children}
      </div>
      <Search />
      <Keys />
    </>
  )
}

/** A page in the rail, with its parts below it while it is open. */
function Section({
  href,
  text,
  icon,
  path,
}: {
  href: string
  text: string
  icon: IconName
  path: string
}) {
  const isHere = isAt(path, href)
  const parts = isHere ? partsOf(href) : []
  return (
    <li>
      <a href={href} title={text} aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} /> <span>{text}</span>
      </a>
      {parts.length > 0 && (
        <ul aria-label={`Parts of ${text}`}>
          {parts.map(part => (
            <li key={part.href}>
              <a href={part.href} aria-current={path === part.href ? 'page' : undefined}>
                {part.text}
              </a>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

const schemes = [
  { value: 'light', text: 'Light', icon: Sun },
  { value: 'dark', text: 'Dark', icon: Moon },
  { value: 'system', text: 'System', icon: Monitor },
] as const

/** The choices of how pages look, at the foot of the rail. */
function Appearance() {
  const { scheme, density, isRailNarrow } = preferences.value
  return (
    <div class="row appearance">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame around them */}
      <div class="group" role="group" aria-label="Colour scheme">
        {schemes.map(({ value, text, icon }) => (
          <IconButton
            key={value}
            className=""
            label={text}
            icon={icon}
            isPressed={scheme === value}
            onClick={() => prefer({ scheme: value })}
          />
        ))}
      </div>
      <IconButton
        label="Dense rows"
        icon={Rows4}
        isPressed={density === 'dense'}
        onClick={() => prefer({ density: density === 'dense' ? 'normal' : 'dense' })}
      />
      <IconButton
        className="plain tight fold"
        label={isRailNarrow ? 'Show names' : 'Icons only'}
        icon={PanelLeft}
        onClick={() => prefer({ isRailNarrow: !isRailNarrow })}
      />
    </div>
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
