import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Refused } from '../bits.tsx'
import {
  areCodesHere,
  best,
  type Code,
  codesRefusal,
  isNameOf,
  match,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../requests/codes.ts'
import { loadGuideWords, matchingPlaces } from '../requests/guides.ts'
import { loadCalls, matchingCalls } from './calls.ts'
import { isTyping } from './keys.tsx'
import { navigation, places } from './navigation.ts'

let show = (): void => {}

/** Opens the search from any page. */
export const openSearch = (): void => show()

interface Target {
  href: string
  text: string
  kind: string
}

const shownMax = 12

/** Pages and their sections: by their names first, then by synonyms. */
function placesFor(typed: string): Target[] {
  const pages = navigation().map(page => ({ words: '', kind: 'Page', ...page }))
  const parts = places().map(({ href, text, of, words }) => ({ href, text, kind: of, words }))
  return best(
    [...pages, ...parts],
    ({ kind, text, words }) =>
      // Exact matches only: with many words, one is near to anything that is misspelt.
      match(text, typed) * 2 || match(`${kind} ${text} ${words}`, typed, false),
    4,
  )
}

function targetsOf(typed: string): Target[] {
  const pages = placesFor(typed)
  const targetOf = ({ code, name }: Code) => ({ href: `/series/${code}`, text: name, kind: code })
  const matches = matchingCodes(typed, shownMax)
  const named = matches.filter(code => isNameOf(code, typed)).map(targetOf)
  const others = matches.filter(code => !isNameOf(code, typed)).map(targetOf)
  const described = matchingCalls(typed, 4).map(({ id, summary, path }) => ({
    href: `/docs?operation=${id}`,
    text: summary,
    kind: path,
  }))
  const guides = matchingPlaces(typed, 3).map(({ href, title, heading }) => ({
    href,
    text: heading || title,
    kind: heading ? `Guide: ${title}` : 'Guide',
  }))
  const last = [...described, ...guides]
  const room = Math.max(0, shownMax - named.length - pages.length - last.length)
  return [...named, ...pages, ...others.slice(0, room), ...last]
}

/** Suggestions for a text without matches. */
const meantBy = (typed: string): Target[] =>
  nearCodes(typed, 3).map(({ code, name }) => ({ href: `/series/${code}`, text: name, kind: code }))

/** Searches codes, pages and documented calls, from anywhere: `/` and Ctrl-K open it. */
export function Search() {
  const dialog = useRef<HTMLDialogElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const typed = useSignal('')
  const chosen = useSignal(0)
  /** Why calls and guides are not searched. */
  const refusal = useSignal<Error | undefined>(undefined)
  const { route } = useLocation()

  useEffect(() => {
    // At once, not with the next drawing: characters after the slash must arrive in the field.
    show = () => {
      if (dialog.current?.open) return
      typed.value = ''
      chosen.value = 0
      dialog.current?.showModal()
      input.current?.focus()
      wantCodes()
    }
    const pressed = (event: KeyboardEvent) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
      if (!isCommand && !(event.key === '/' && isPlain && !isTyping(event))) return
      event.preventDefault()
      show()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])

  const close = () => {
    dialog.current?.close()
    // It keeps the focus until the next drawing, and a slash until then would count as typed there.
    input.current?.blur()
  }
  const go = (href: string) => {
    close()
    route(href)
  }
  const exact = targetsOf(typed.value)
  const targets = exact.length > 0 ? exact : meantBy(typed.value)
  const pressed = (event: KeyboardEvent) => {
    // A search field would take the first Escape to empty itself.
    if (event.key === 'Escape') {
      event.preventDefault()
      close()
      return
    }
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
          Find a series, a page or an API call
          <input
            ref={input}
            type="search"
            list={undefined}
            // biome-ignore lint/a11y/noRedundantRoles: a search field alone is not a combobox
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
              if (typed.value.length > 2)
                void Promise.all([loadCalls(), loadGuideWords()]).then(
                  () => {
                    refusal.value = undefined
                  },
                  error => {
                    refusal.value = error as Error
                  },
                )
            }}
            onKeyDown={pressed}
          />
        </label>
        {exact.length === 0 && targets.length > 0 && (
          <p class="quiet" role="status">
            No results. Did you mean:
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
        {(codesRefusal.value ?? refusal.value) && (
          <Refused error={(codesRefusal.value ?? refusal.value)!} />
        )}
        {typed.value !== '' && targets.length === 0 && !codesRefusal.value && (
          <p class="quiet" role="status">
            {areCodesHere.value ? 'No results.' : 'Loading codes …'}
          </p>
        )}
        <p class="quiet small">
          <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes.
        </p>
      </div>
    </dialog>
  )
}
