import { useSignal } from '@preact/signals'
import type { SuppressionShape as Suppression } from '../../../topics/operator/operations/system/mail.ts'
import type { HeldShape as HeldMessage } from '../../../topics/operator/operations/system/outbox.ts'
import type { TokenShape as AdminToken } from '../../../topics/operator/operations/system/tokens.ts'
import { ShownOnce, Tag } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Input, Select, Submit } from '../../parts/fields.tsx'
import {
  useOperator,
  useOperatorChange,
  useOperatorPages,
} from '../../parts/person/operator-token.tsx'
import { pagedRows } from '../../parts/requests/pages.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound, submits } from '../../parts/text/form.ts'
import { day, instant, number } from '../../parts/text/format.ts'
import { DeliveryChannels } from './delivery-channels.tsx'
import { Outbox } from './outbox.tsx'
import { Settings } from './settings.tsx'

/** Tests of the delivery channels, tokens of the operator, settings. */
export const System = () => (
  <>
    <DeliveryChannels />
    <Tokens />
    <Settings />
  </>
)

/** Outgoing messages: waiting, held back, and suppressed addresses. */
export const Messages = () => (
  <>
    <Outbox />
    <div class="columns">
      <Held />
      <Suppressions />
    </div>
  </>
)

const roles = [
  { value: 'read', text: 'read: view everything' },
  { value: 'data', text: 'data: prices, series, feeds' },
  { value: 'people', text: 'people: accounts, keys, payments' },
  { value: 'all', text: 'all: everything, including tokens' },
] as const

interface Created {
  data: { token: { plain_token: string } }
}

function Tokens() {
  const answer = useOperator<{ data: { tokens: AdminToken[] } }>('/admin/v1/tokens')
  const { change, ...outcome } = useOperatorChange(answer)
  const name = useSignal('')
  const role = useSignal<string>('read')
  const secret = useSignal<string | undefined>(undefined)
  const make = () => {
    const body = { name: name.value, role: role.value }
    return change('/admin/v1/tokens', 'POST', body, ({ data }: Created) => {
      secret.value = data.token.plain_token
      name.value = ''
    })
  }
  const revoke = (id: string) => change(`/admin/v1/tokens/${id}`, 'DELETE')
  return (
    <>
      {secret.value && <ShownOnce what="The new admin token, shown once:" secret={secret.value} />}
      <Table
        caption="Admin tokens"
        file="tokens"
        outcome={outcome}
        of={answer}
        rows={answer.data?.data.tokens}
        empty="No tokens yet."
        actions={
          <form class="row end" onSubmit={submits(make)}>
            <Input label="Token name" required maxLength={40} {...bound(name)} />
            <Select label="Role" of={roles} {...bound(role)} />
            <Submit>Create token</Submit>
          </form>
        }
        columns={({ column }) => [
          column('Token', token => token.name ?? 'Initial token', {
            show: token => twoLines(token.name ?? 'Initial token', token.token_hint, 'code'),
          }),
          column('Role', 'role'),
          column('Created', 'created_at', { ...aside, write: day }),
          column('State', token => (token.revoked_at ? 'revoked' : 'active'), {
            show: token => (token.revoked_at ? <Tag>Revoked</Tag> : <Tag mood="good">Active</Tag>),
          }),
          {
            ...actions,
            show: token =>
              token.revoked_at === null && (
                <Confirmed
                  label="Revoke"
                  question={`Revoke “${token.name ?? token.token_hint}”? Requests that use it are refused immediately.`}
                  onConfirm={() => revoke(token.id)}
                />
              ),
          },
        ]}
      />
    </>
  )
}

function Held() {
  const answer = useOperatorPages<HeldMessage>('/admin/v1/outbox/held?per_page=50', 'held')
  const { change, ...outcome } = useOperatorChange(answer)
  const release = (body: object) =>
    change(
      '/admin/v1/outbox/release',
      'POST',
      body,
      ({ data }: { data: { released: number; more: boolean } }) =>
        `${number(data.released)} being sent${data.more ? '; more remain' : ''}.`,
    )
  const { total } = answer
  return (
    <div class="stack">
      <Table
        caption="Held messages"
        outcome={outcome}
        file="held"
        {...pagedRows(answer)}
        empty="No messages are held. After a restore, messages that may already have been sent wait here."
        actions={
          total > 0 && (
            <Confirmed
              label="Send all"
              question={`Send ${number(total)} messages? Recipients who already have them get them twice.`}
              onConfirm={() => release({})}
            />
          )
        }
        columns={({ column }) => [
          column('Message', 'event_type', message => twoLines(message.event_type, message.about)),
          column('By', 'kind'),
          column('Created', 'created_at', { ...aside, write: instant }),
          {
            ...actions,
            show: ({ id }) => (
              <Button className="tight" label="Send" onClick={() => release({ ids: [id] })} />
            ),
          },
        ]}
      />
    </div>
  )
}

function Suppressions() {
  const answer = useOperatorPages<Suppression>(
    '/admin/v1/suppressions?per_page=100',
    'suppressions',
  )
  const { change, ...outcome } = useOperatorChange(answer)
  const lift = (address: string) =>
    change(`/admin/v1/suppressions/${encodeURIComponent(address)}`, 'DELETE')
  return (
    <div class="stack">
      <Table
        caption="Suppressed addresses"
        outcome={outcome}
        file="suppressions"
        {...pagedRows(answer)}
        empty="No suppressed addresses. An address that permanently rejects mail is added here."
        columns={({ column }) => [
          column('Address', 'address'),
          column('Why', 'reason'),
          column('Since', 'created_at', { ...aside, write: day }),
          {
            ...actions,
            show: ({ address }) => (
              <Confirmed
                label="Lift"
                question={`Remove the suppression of ${address}?`}
                onConfirm={() => lift(address)}
              />
            ),
          },
        ]}
      />
    </div>
  )
}
