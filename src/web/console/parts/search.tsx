import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { loadCalls, matchingCalls } from './calls.ts'
import { codes, loadCodes, match, matchingCodes, nearCodes } from './codes.ts'
import { loadGuides, matchingPlaces } from './guides.ts'
import { navigation } from './navigation.ts'

let show = (): void => {}

/** Opens the search, wherever somebody is. */
export const openSearch = (): void => show()

interface Target {
  href: string
  text: string
  kind: string
}

const shownMax = 12

function targetsOf(typed: string): Target[] {
  const pages = navigation()
    .filter(({ text }) => match(text, typed) > 0)
    .map(({ href, text }) => ({ href, text, kind: 'Page' }))
  const matches = matchingCodes(typed, shownMax).map(({ code, name }) => ({
    href: `/series/${code}`,
    text: name,
    kind: code,
  }))
  const described = matchingCalls(typed, 4).map(({ id, summary, path }) => ({
    href: `/docs?operation=${id}`,
    text: summary,
    kind: path,
  }))
  const places = matchingPlaces(typed, 3).map(({ href, title, heading }) => ({
    href,
    text: heading || title,
    kind: heading ? `Guide: ${title}` : 'Guide',
  }))
  const others = [...described, ...places]
  return [...pages, ...matches.slice(0, shownMax - pages.length - others.length), ...others]
}

/** What somebody may have meant who finds nothing. */
const meantBy = (typed: string): Target[] =>
  nearCodes(typed, 3).map(({ code, name }) => ({ href: `/series/${code}`, text: name, kind: code }))

/** Codes, pages and documented calls by a few letters, from anywhere: `/` opens it. */
export function Search() {
  const dialog = useRef<HTMLDialogElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const typed = useSignal('')
  const chosen = useSignal(0)
  const { route } = useLocation()

  useEffect(() => {
    // At once, not with the next drawing: what is typed after the slash must arrive in the field.
    show = () => {
      if (dialog.current?.open) return
      typed.value = ''
      chosen.value = 0
      dialog.current?.showModal()
      input.current?.focus()
      void loadCodes().catch(() => {})
    }
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      show()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])

  const close = () => dialog.current?.close()
  const go = (href: string) => {
    close()
    route(href)
  }
  const exact = targetsOf(typed.value)
  const targets = exact.length > 0 ? exact : meantBy(typed.value)
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      chosen.value = (chosen.value + step + targets.length) % Math.max(1, targets.length)
    }
    const target = targets[chosen.value]
    if (event.key === 'Enter' && target) go(target.href)
  }

  return (
    <dialog ref={dialog} aria-label="Search">
      <div class="stack">
        <label>
          Find a code, a page or a call
          <input
            ref={input}
            type="search"
            list={undefined}
            // biome-ignore lint/a11y/noRedundantRoles: without a list of its own a search field is none
            role="combobox"
            aria-expanded={targets.length > 0}
            aria-controls="found"
            aria-activedescendant={targets[chosen.value] ? `found-${chosen.value}` : undefined}
            autocomplete="off"
            placeholder="Brent, Henry Hub, jet fuel, alerts …"
            value={typed.value}
            onInput={event => {
              typed.value = event.currentTarget.value
              chosen.value = 0
              if (typed.value.length > 2) {
                void loadCalls().catch(() => {})
                void loadGuides().catch(() => {})
              }
            }}
            onKeyDown={pressed}
          />
        </label>
        {exact.length === 0 && targets.length > 0 && (
          <p class="quiet" role="status">
            Nothing has that name. Did you mean:
          </p>
        )}
        <div class="found" id="found" role="listbox" aria-label="Found">
          {targets.map((target, i) => (
            <a
              key={target.href}
              id={`found-${i}`}
              role="option"
              aria-selected={i === chosen.value}
              tabIndex={-1}
              href={target.href}
              onClick={event => {
                event.preventDefault()
                go(target.href)
              }}
            >
              <span>{target.text}</span>
              <span class="code">{target.kind}</span>
            </a>
          ))}
        </div>
        {typed.value !== '' && targets.length === 0 && (
          <p class="quiet" role="status">
            {codes.value.length === 0 ? 'The codes are on their way …' : 'Nothing has that name.'}
          </p>
        )}
        <p class="quiet small">
          <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes.
        </p>
      </div>
    </dialog>
  )
}
