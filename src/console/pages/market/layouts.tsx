import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import { Refused } from '../../parts/bits.tsx'
import { Confirmed } from '../../parts/buttons.tsx'
import { Choice, Input } from '../../parts/fields.tsx'
import { useFocusKept } from '../../parts/focus.ts'
import {
  ask,
  dataOf,
  type Loaded,
  useAttempt,
  useData,
  useLoaded,
} from '../../parts/requests/ask.ts'
import { layoutPath, layoutsPath } from '../../parts/requests/first.ts'
import { bound, submits } from '../../parts/text/form.ts'

export interface Group {
  name: string
  codes: string[]
}

export interface Layout {
  name: string
  groups: Group[]
}

export const codesOf = (groups: readonly Group[]): string[] => groups.flatMap(({ codes }) => codes)

/** The named watchlists of the account, the person's own first, and the one that the address names. */
export function useLayouts(): { answer: Loaded<Layout[]>; shown: Layout | undefined } {
  const { query } = useLocation()
  const answer = useLoaded('layouts', async signal => {
    const [own, shared] = await Promise.all([
      dataOf<{ groups: Group[] }>(layoutPath, { signal }),
      dataOf<{ layouts: Layout[] }>(layoutsPath, { signal }),
    ])
    return [{ name: '', groups: own.groups }, ...shared.layouts]
  })
  const shown = answer.data?.find(({ name }) => name === query.layout) ?? answer.data?.[0]
  return { answer, shown }
}

/** Chooses among the named watchlists; nothing while there is only the person's own. */
export function Layouts({ layouts, shown }: { layouts: readonly Layout[]; shown: string }) {
  const { route } = useLocation()
  if (layouts.length < 2) return null
  return (
    <Choice
      label="Watchlist"
      value={shown}
      options={layouts.map(({ name }) => ({ value: name, text: name || 'My watchlist' }))}
      onChoose={name =>
        route(name === '' ? '/market' : `/market?layout=${encodeURIComponent(name)}`)
      }
    />
  )
}

/** Saves the groups that are shown under a name, for everybody in the organization, and deletes them. */
export function Sharing({ groups }: { groups: readonly Group[] }) {
  const name = useSignal('')
  const { refusal, attempt } = useAttempt()
  const answer = useData<{ layouts: Layout[] }>(layoutsPath)
  const layouts = answer.data?.layouts ?? []
  const change = (method: 'PUT' | 'DELETE', layout: string) =>
    attempt(async () => {
      await ask(`${layoutsPath}/${encodeURIComponent(layout)}`, {
        method,
        ...(method === 'PUT' && { body: { groups } }),
      })
      name.value = ''
      await answer.reload()
    })
  return (
    <section class="card" aria-labelledby="shared" ref={useFocusKept()} tabIndex={-1}>
      <h2 id="shared">Shared watchlists</h2>
      <p class="quiet">
        Everyone in your organization can select them on the <a href="/market">market page</a>.
      </p>
      {refusal.value && <Refused error={refusal.value} />}
      <form class="row end" onSubmit={submits(() => change('PUT', name.value.trim()))}>
        <Input
          label="Save these codes as"
          required
          maxLength={60}
          placeholder="Crude desk"
          {...bound(name)}
        />
        <button type="submit">Share</button>
      </form>
      {layouts.length > 0 && (
        <ul class="plain stack">
          {layouts.map(layout => (
            <li class="row spread" key={layout.name}>
              <a href={`/market?layout=${encodeURIComponent(layout.name)}`}>{layout.name}</a>
              <span class="row">
                <span class="quiet small">{codesOf(layout.groups).length} codes</span>
                <Confirmed
                  label="Delete"
                  of={layout.name}
                  question={`Delete “${layout.name}” for everyone?`}
                  onConfirm={() => change('DELETE', layout.name)}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
