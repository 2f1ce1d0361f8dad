import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { bound, takes } from './text/form.ts'

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
  Pick<JSX.IntrinsicElements['select'], 'class' | 'name' | 'onChange' | 'onInput' | 'value'> & {
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

/** The names of time zones, for a field that lists them by this id; the children come second. */
export const Zones = ({ id, children }: { id: string; children?: ComponentChildren }) => (
  <datalist id={id}>
    <option value="UTC" />
    {children}
    {Intl.supportedValuesOf('timeZone').map(name => (
      <option key={name} value={name} />
    ))}
  </datalist>
)

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

interface ChoiceProps<T> {
  label: string
  options: readonly { value: T; text: string }[]
}

/** A choice of few, as pressed buttons: of a signal, or of a value. */
export function Choice<T extends string>({
  label,
  options,
  ...chosen
}: ChoiceProps<T> & ({ of: Signal<T> } | { value: T; onChoose: (value: T) => void })) {
  const { value, onChoose } =
    'of' in chosen ? { value: chosen.of.value, onChoose: takes(chosen.of) } : chosen
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
