import type { Signal } from '@preact/signals'

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

/** Ties a field to a signal: it shows the text and takes what is typed. */
export const bound = (text: Signal<string>) => ({
  value: text.value,
  onInput(event: { currentTarget: { value: string } }): void {
    text.value = event.currentTarget.value
  },
})

/** Ties a choice to a signal. */
export const boundSelect = (text: Signal<string>) => ({
  value: text.value,
  onChange(event: { currentTarget: { value: string } }): void {
    text.value = event.currentTarget.value
  },
})

/** Binds a `Choice` to a signal. */
export const boundChoice = <T extends string>(text: Signal<T>) => ({
  value: text.value,
  onChoose(value: T): void {
    text.value = value
  },
})

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
