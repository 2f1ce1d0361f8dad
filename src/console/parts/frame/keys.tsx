import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Button } from '../buttons.tsx'
import { printWhole } from '../print.ts'
import { navigation } from './navigation.ts'

/** Whether a key is typed into a field. */
export const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

/** The key that leads to each page after `g`: the first of its name that no page before has. */
function jumps(): Map<string, { href: string; text: string }> {
  const taken = new Map<string, { href: string; text: string }>()
  for (const { href, text } of navigation()) {
    const letter = [...text.toLowerCase()].find(each => !taken.has(each))
    if (letter) taken.set(letter, { href, text })
  }
  return taken
}

/** Keyboard shortcuts of every page; `?` lists them, and `g` with another key opens a page. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isJump = useRef(false)
  const { route } = useLocation()
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isPrint = (event.ctrlKey || event.metaKey) && event.key === 'p'
      if (isPrint && document.querySelector('main .below')) {
        event.preventDefault()
        void printWhole()
        return
      }
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]')) return
      const place = isJump.current ? jumps().get(event.key) : undefined
      isJump.current = event.key === 'g' && !isJump.current
      if (place) {
        event.preventDefault()
        route(place.href)
      } else if (event.key === '?') dialog.current?.showModal()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
  return (
    <dialog ref={dialog} aria-label="Keyboard shortcuts">
      <div class="stack">
        <h2>Keyboard shortcuts</h2>
        <dl class="facts">
          <dt>
            <kbd>/</kbd> or <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Search series, pages, API calls and guides</dd>
          {[...jumps()].map(([letter, { href, text }]) => (
            <>
              <dt key={href}>
                <kbd>g</kbd> <kbd>{letter}</kbd>
              </dt>
              <dd>{text}</dd>
            </>
          ))}
          <dt>
            <kbd>←</kbd> <kbd>→</kbd>
          </dt>
          <dd>Move the cursor of a chart that has the focus</dd>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>Show this list</dd>
        </dl>
        <div class="row">
          <Button label="Close" onClick={() => dialog.current?.close()} />
        </div>
      </div>
    </dialog>
  )
}
