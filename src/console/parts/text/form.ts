import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

type Typed = { currentTarget: { value: string } }

interface Submission {
  preventDefault(): void
  currentTarget: HTMLFormElement
  submitter: HTMLElement | null
}

/** The handler of a form that is sent by its page: it gets the form, unless its button is off. */
export const submits =
  (work: (form: HTMLFormElement) => unknown) =>
  (event: Submission): void => {
    event.preventDefault()
    if (event.submitter?.ariaDisabled !== 'true') void work(event.currentTarget)
  }

export type Fields = (name: string) => string

/** The fields of a form by their names: each without spaces around it, empty where it is not sent. */
export function fieldsOf(form: HTMLFormElement): Fields {
  const sent = new FormData(form)
  return name => String(sent.get(name) ?? '').trim()
}

/** Ties a field or a choice to a signal: it shows the text and takes what is typed or chosen. */
export const bound = (text: Signal<string>) => ({
  value: text.value,
  onInput(event: Typed): void {
    text.value = event.currentTarget.value
  },
})

/** Ties a checkbox to a set of chosen items: it is checked while the set has the item. */
export const boundIn = <T>(chosen: Signal<ReadonlySet<T>>, item: NoInfer<T>) => ({
  checked: chosen.value.has(item),
  onChange(event: { currentTarget: { checked: boolean } }): void {
    const items = new Set(chosen.value)
    if (event.currentTarget.checked) items.add(item)
    else items.delete(item)
    chosen.value = items
  },
})

/** The texts of a form as they are typed, and what ties a field to one of them. */
export function useDraft<D extends Record<string, string>>(first: D) {
  const draft = useSignal(first)
  const set = (change: Partial<D>): void => {
    draft.value = { ...draft.value, ...change }
  }
  const field = (name: keyof D & string) => ({
    name,
    value: draft.value[name],
    onInput: (event: Typed) => set({ [name]: event.currentTarget.value } as Partial<D>),
  })
  return { draft: draft.value, set, field }
}

/** A value as soon as it was left alone for a moment, and the first one immediately. */
export function useSettled<T>(value: T, afterMs: number): T {
  const settled = useSignal(value)
  useEffect(() => {
    const timer = setTimeout(takes(settled), afterMs, value)
    return () => clearTimeout(timer)
  }, [value])
  return settled.value
}

/** The handler of a button that gives a signal a value. */
export const sets =
  <T>(signal: Signal<T>, value: NoInfer<T>) =>
  (): void => {
    signal.value = value
  }

/** A handler that passes what it gets to a signal. */
export const takes =
  <T>(signal: Signal<T>) =>
  (value: T): void => {
    signal.value = value
  }
