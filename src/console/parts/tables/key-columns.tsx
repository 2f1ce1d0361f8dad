import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Input, Submit } from '../bits.tsx'
import { bound, submits } from '../text/form.ts'
import { ago, day } from '../text/format.ts'
import { aside, type Column, column } from './columns.tsx'

interface NamedKey {
  name: string | null
  token_hint: string
  created_at: string
  last_used_at: string | null
}

export const keyName = ({ name }: Pick<NamedKey, 'name'>): string => name ?? 'without a name'

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
    value: key => key.name ?? key.token_hint,
    show: key => (
      <>
        {keyName(key)}
        <div class="code">{key.token_hint}</div>
      </>
    ),
  },
  column('Created', 'created_at', { isWide: true, className: 'quiet', write: day }),
  column('Last use', 'last_used_at', { ...aside, write: ago }),
]
