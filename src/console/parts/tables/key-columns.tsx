import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Confirmed } from '../buttons.tsx'
import { Input, Submit } from '../fields.tsx'
import { bound, submits } from '../text/form.ts'
import { ago, day } from '../text/format.ts'
import { actions, aside, type Column, column } from './columns.tsx'
import { twoLines } from './table.tsx'

interface NamedKey {
  name: string | null
  token_hint: string
  created_at: string
  last_used_at: string | null
}

/** What a key is called: its name, or a part of its token. */
export const nameOf = ({ name, token_hint: hint }: Pick<NamedKey, 'name' | 'token_hint'>): string =>
  name ?? hint

/** Creates a key under a name; `children`: what it may be limited to. */
export const KeyForm = ({
  name,
  onCreate,
  children,
}: {
  name: Signal<string>
  onCreate: (form: HTMLFormElement) => unknown
  children?: ComponentChildren
}) => (
  <form class="row end" onSubmit={submits(onCreate)}>
    <Input label="Key name" required maxLength={100} {...bound(name)} />
    <Submit>Create key</Submit>
    {children}
  </form>
)

/** Columns of every list of keys. */
export const keyColumns: readonly Column<NamedKey>[] = [
  {
    name: 'Key',
    value: nameOf,
    show: key => twoLines(key.name ?? 'without a name', key.token_hint, 'code'),
  },
  column('Created', 'created_at', { isWide: true, className: 'quiet', write: day }),
  column('Last use', 'last_used_at', { ...aside, write: ago }),
]

/** The buttons of every key that is active; `more` stand before them. */
export const keyActions = <K extends NamedKey & { id: string; active: boolean }>({
  onRoll,
  onRevoke,
  more,
}: {
  onRoll: (id: string) => unknown
  onRevoke: (id: string) => unknown
  more?: (key: K) => ComponentChildren
}): Column<K> => ({
  ...actions,
  show: key =>
    key.active && (
      <div class="row">
        {more?.(key)}
        <Confirmed
          className="tight"
          label="Roll"
          question={`Rotate the token of “${nameOf(key)}”? Programs that use the old token need the new one.`}
          onConfirm={() => onRoll(key.id)}
        />
        <Confirmed
          label="Revoke"
          question={`Revoke “${nameOf(key)}”? Programs that use it are refused immediately.`}
          onConfirm={() => onRevoke(key.id)}
        />
      </div>
    ),
})
