import { useSignal } from '@preact/signals'
import { type ComponentChildren, type ComponentType, createContext } from 'preact'
import { useContext, useEffect, useRef } from 'preact/hooks'

/** The row of a table that a button is in, by name: a screen reader reads buttons outside of it. */
export const RowName = createContext('')

interface Named {
  label: string
  /** What it is about, where this is not the row that it is in. */
  of?: string | undefined
}

/** The words of a button with what it is about; undefined where it is about the page. */
function useName({ label, of }: Named): string | undefined {
  const row = useContext(RowName)
  const subject = of ?? row
  return subject ? `${label} ${subject}` : undefined
}

interface ButtonProps extends Named {
  className?: string
  isPressed?: boolean
  isOff?: boolean
  onClick: () => unknown
}

/** A button that says only words. Off, it still keeps the focus: a press may turn it off itself. */
export const Button = ({ label, of, className, isPressed, isOff, onClick }: ButtonProps) => (
  <button
    type="button"
    class={className}
    aria-label={useName({ label, of })}
    aria-pressed={isPressed}
    aria-disabled={isOff}
    onClick={() => isOff || void onClick()}
  >
    {label}
  </button>
)

/** A button that is a picture: screen readers have its words, and so has its tooltip. */
export const IconButton = ({
  label,
  icon: Drawn,
  className = 'plain tight',
  isPressed,
  onClick,
}: Pick<ButtonProps, 'label' | 'className' | 'isPressed' | 'onClick'> & {
  icon: ComponentType<{ size: number; 'aria-hidden': 'true' }>
}) => (
  <button
    type="button"
    class={className}
    title={label}
    aria-label={label}
    aria-pressed={isPressed}
    onClick={() => void onClick()}
  >
    <Drawn size={15} aria-hidden="true" />
  </button>
)

/** Copies a text and confirms it. */
export function Copy({
  text,
  label = 'Copy',
  className = '',
}: {
  text: string | (() => string)
  label?: string
  className?: string
}) {
  const outcome = useSignal('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      outcome.value = 'Copied'
    } catch {
      outcome.value = 'Could not copy'
    }
    setTimeout(() => {
      outcome.value = ''
    }, 2000)
  }
  return (
    <button type="button" class={className} onClick={copy}>
      {outcome.value || label}
      <span class="only-heard" role="status">
        {outcome.value}
      </span>
    </button>
  )
}

/** Asks before what cannot be taken back. */
export function Confirmed({
  label,
  of,
  question,
  onConfirm,
  className = 'tight danger',
}: Named & {
  question: string
  onConfirm: () => unknown
  className?: string
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <Button
        className={className}
        label={label}
        of={of}
        onClick={() => dialog.current?.showModal()}
      />
      <dialog ref={dialog} aria-label={useName({ label, of }) ?? label}>
        <div class="stack">
          <p>{question}</p>
          <div class="row">
            {/* First, so that it has the focus: Enter must not do what cannot be taken back. */}
            <Button label="Cancel" of="" onClick={() => dialog.current?.close()} />
            <Button
              className="danger"
              label={label}
              onClick={() => {
                dialog.current?.close()
                void onConfirm()
              }}
            />
          </div>
        </div>
      </dialog>
    </>
  )
}

/** A panel at the side, over the page that it belongs to; Escape closes it. */
export function Side({
  label,
  onClose,
  children,
}: {
  label: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class="side" ref={dialog} aria-label={label} onClose={onClose}>
      <div class="stack">
        <header class="row spread">
          <h2>{label}</h2>
          <Button className="tight" label="Close" onClick={() => dialog.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
