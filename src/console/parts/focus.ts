import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** A form that a press opens: it gets the focus, and gives it back to the button when it closes. */
export function useOpened() {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => opener instanceof HTMLElement && opener.focus()
  }, [])
  return form
}

/** A part of a page that takes the focus where a press removes the button that had it. */
export function useFocusKept() {
  const part = useRef<HTMLElement>(null)
  const focused = useRef<EventTarget | null>(null)
  useEffect(() => {
    part.current?.addEventListener('focusin', ({ target }) => {
      focused.current = target
    })
    part.current?.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget) focused.current = null
    })
  }, [])
  useLayoutEffect(() => {
    const isRemoved = focused.current instanceof Element && !focused.current.isConnected
    if (!isRemoved) return
    focused.current = null
    if (document.activeElement === document.body) part.current?.focus({ preventScroll: true })
  })
  return part
}
