import type { ListedKey as Key } from '../../../topics/keys/operations/keys.ts'
import { Button } from '../../parts/buttons.tsx'
import { Input, Submit } from '../../parts/fields.tsx'
import { useOpened } from '../../parts/focus.ts'
import { submits } from '../../parts/text/form.ts'
import { dataDay } from '../../parts/text/format.ts'

const scopes = [
  'prices',
  'futures',
  'analytics',
  'fundamentals',
  'alerts',
  'watches',
  'streams',
  'webhooks',
  'deliveries',
  'messages',
  'sources',
  'account',
] as const

/** The limits of a key from a form, for changing a key. */
function limitsIn(form: FormData) {
  const list = (name: string) =>
    String(form.get(name) ?? '')
      .split(/[\s,]+/)
      .filter(Boolean)
  const until = String(form.get('expires_on') ?? '')
  return {
    allowed_ips: list('allowed_ips'),
    allowed_domains: list('allowed_domains'),
    expires_at: until === '' ? null : `${until}T00:00:00Z`,
    read_only: form.get('read_only') !== null,
    scopes: form.getAll('scopes').map(String),
  }
}

/** The restrictions of a new key that were chosen in the form; the others are left out. */
export function restrictionsOf(form: FormData): Record<string, unknown> {
  const chosen = Object.entries(limitsIn(form)).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : Boolean(value),
  )
  return Object.fromEntries(chosen)
}

/** The restrictions of a key, in one line. */
export const limitsOf = (key: Key): string =>
  [
    key.scopes.join(', '),
    key.allowed_ips.length && `from ${key.allowed_ips.join(', ')}`,
    key.allowed_domains.length && `on ${key.allowed_domains.join(', ')}`,
    key.expires_at && `until ${dataDay(key.expires_at)}`,
  ]
    .filter(Boolean)
    .join(' · ')

/** Fields of what a key is good for. */
const LimitFields = ({ limits }: { limits?: Key }) => (
  <div class="stack">
    <fieldset>
      <legend>Scopes (none selected: all)</legend>
      <div class="row">
        {scopes.map(scope => (
          <label class="inline" key={scope}>
            <input
              type="checkbox"
              name="scopes"
              value={scope}
              defaultChecked={limits?.scopes.includes(scope)}
            />
            {scope}
          </label>
        ))}
      </div>
    </fieldset>
    <div class="row end">
      <Input
        label="Allowed networks (empty for any)"
        name="allowed_ips"
        placeholder="203.0.113.0/24"
        defaultValue={limits?.allowed_ips.join(', ')}
      />
      <Input
        label="Allowed domains (empty for any)"
        name="allowed_domains"
        placeholder="example.com"
        defaultValue={limits?.allowed_domains.join(', ')}
      />
      <Input
        label="Expires on"
        type="date"
        name="expires_on"
        defaultValue={limits?.expires_at?.slice(0, 10)}
      />
      <label class="inline">
        <input type="checkbox" name="read_only" defaultChecked={limits?.read_only} /> Read-only
      </label>
    </div>
  </div>
)

/** Fields of a form that makes a key. */
export const Restrictions = () => (
  <details>
    <summary>Restrict</summary>
    <LimitFields />
  </details>
)

interface Props {
  named: Key
  onSave: (change: Record<string, unknown>) => void
  onCancel: () => void
}

/** Changes the name and the limits of a key; its token stays. */
export const KeyLimits = ({ named, onSave, onCancel }: Props) => (
  <form
    class="card"
    ref={useOpened()}
    aria-labelledby="limits"
    onSubmit={submits(form => {
      const typed = new FormData(form)
      onSave({ name: String(typed.get('name') ?? '').trim() || null, ...limitsIn(typed) })
    })}
  >
    <h2 id="limits">Key restrictions</h2>
    <Input label="Name" name="name" maxLength={100} defaultValue={named.name ?? ''} />
    <LimitFields limits={named} />
    <div class="row">
      <Submit>Save key</Submit>
      <Button label="Cancel" onClick={onCancel} />
    </div>
  </form>
)
