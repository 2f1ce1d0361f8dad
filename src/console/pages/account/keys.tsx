import { useSignal } from '@preact/signals'
import type { ListedKey as Key } from '../../../topics/keys/operations/keys.ts'
import { May, Result, ShownOnce, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { keepKey } from '../../parts/person/own-key.ts'
import { useChange, useData } from '../../parts/requests/ask.ts'
import { KeyForm, keyActions, keyColumns } from '../../parts/tables/key-columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'
import { figure } from '../../parts/text/format.ts'
import { KeyLimits, limitsOf, Restrictions, restrictionsOf } from './key-limits.tsx'

interface NewKey {
  data: { api_key?: { plain_token?: string }; plain_token?: string }
}

export function Keys() {
  const answer = useData<{ api_keys: Key[] }>('/v1/api-keys')
  const { change, ...outcome } = useChange(answer)
  const name = useSignal('')
  const newToken = useSignal<string | undefined>(undefined)
  const show = ({ data }: NewKey) => {
    newToken.value = data.api_key?.plain_token ?? data.plain_token
    // Users who create a key want to use it: the samples contain it as long as the tab is open.
    if (newToken.value !== undefined) keepKey(newToken.value)
  }
  const make = (form: HTMLFormElement) => {
    const body = { name: name.value, ...restrictionsOf(new FormData(form)) }
    return change('/v1/api-keys', 'POST', body, (made: NewKey) => {
      show(made)
      name.value = ''
      form.reset()
    })
  }
  const roll = (id: string) => change(`/v1/api-keys/${id}/roll`, 'POST', {}, show)
  const revoke = (id: string) => change(`/v1/api-keys/${id}`, 'DELETE')
  const edited = useSignal<Key | undefined>(undefined)
  const limit = (id: string, limits: Record<string, unknown>) =>
    change(`/v1/api-keys/${id}`, 'PATCH', limits, sets(edited, undefined))
  return (
    <>
      {newToken.value && <ShownOnce what="The new key, shown once:" secret={newToken.value} />}
      <Result {...outcome} />
      {edited.value && (
        <KeyLimits
          key={edited.value.id}
          named={edited.value}
          onSave={limits => void limit(edited.value!.id, limits)}
          onCancel={sets(edited, undefined)}
        />
      )}
      <Table
        caption="API keys"
        file="keys"
        of={answer}
        rows={answer.data?.api_keys}
        empty="No API keys yet. Name one and create it to call the API."
        actions={
          <May action="change_keys">
            <KeyForm name={name} onCreate={make}>
              <Restrictions />
            </KeyForm>
          </May>
        }
        columns={({ column, numeric }) => [
          ...keyColumns,
          numeric('Quota used', ({ usage }) => usage.requests_used, {
            isWide: true,
            write: figure,
          }),
          column('State', ({ active }) => (active ? 'active' : 'ended'), {
            show: key => (
              <>
                {key.active ? <Tag mood="good">Active</Tag> : <Tag>Ended</Tag>}
                {key.read_only && <Tag>Read-only</Tag>}
                <div class="quiet small">{limitsOf(key)}</div>
              </>
            ),
          }),
          {
            ...keyActions({
              onRoll: roll,
              onRevoke: revoke,
              more: key => (
                <Button className="tight" label="Restrict" onClick={sets(edited, key)} />
              ),
            }),
            needs: 'change_keys',
          },
        ]}
      />
    </>
  )
}
