import type { ComponentChildren } from 'preact'
import { Button, Confirmed } from '../buttons.tsx'

interface RowButtonsProps {
  isOn: boolean
  /** The words of the button, as the row is on and off. */
  words?: readonly [on: string, off: string]
  onTurn: (isOn: boolean) => unknown
  question: string
  onDelete: () => Promise<unknown>
  children?: ComponentChildren
}

/** Pauses what a row has, or deletes it; `children` are the buttons before them. */
export const RowButtons = ({ isOn, onTurn, question, onDelete, ...more }: RowButtonsProps) => {
  const [on, off] = more.words ?? ['Pause', 'Resume']
  return (
    <div class="row">
      {more.children}
      <Button className="tight" label={isOn ? on : off} onClick={() => onTurn(!isOn)} />
      <Confirmed label="Delete" question={question} onConfirm={onDelete} />
    </div>
  )
}
