import { useSignal } from '@preact/signals'
import type { MessageShape as Message } from '../../../topics/operator/operations/system/outbox-queue.ts'
import { Tag } from '../../parts/bits.tsx'
import { Confirmed } from '../../parts/buttons.tsx'
import { Choice, Select } from '../../parts/fields.tsx'
import { asOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { now } from '../../parts/requests/boot.ts'
import { pagedRows, usePages } from '../../parts/requests/pages.ts'
import { Table } from '../../parts/tables/table.tsx'
import { bound, boundIn } from '../../parts/text/form.ts'
import { ago, instant, number, words } from '../../parts/text/format.ts'

interface Listed {
  data: { messages: Message[]; counts: { waiting: number; given_up: number } }
}

const dueAt = (at: string): string => (Date.parse(at) <= now() ? 'due' : ago(at))

/** Waiting and failed messages of every account. */
export function Outbox() {
  const state = useSignal<'waiting' | 'given_up'>('waiting')
  const kind = useSignal('')
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const query = new URLSearchParams({ state: state.value, per_page: '50' })
  if (kind.value) query.set('kind', kind.value)
  const path = `/admin/v1/outbox?${query}`
  const answer = usePages<Message, Listed>(path, 'messages', asOperator)
  const { change, ...outcome } = useOperatorChange(answer)
  const decide = (what: 'send' | 'drop') => {
    const body = { ids: [...chosen.value] }
    return change(
      `/admin/v1/outbox/${what}`,
      'POST',
      body,
      ({ data }: { data: { count: number } }) => {
        chosen.value = new Set()
        return `${number(data.count)} ${what === 'send' ? 'being sent' : 'dropped'}.`
      },
    )
  }
  const counts = answer.data?.[0]?.data.counts
  return (
    <Table
      caption="Messages"
      file="outbox"
      outcome={outcome}
      {...pagedRows(answer)}
      isTall
      empty={
        state.value === 'waiting' ? (
          <>
            <p>The outbox is empty. Test delivery channels under System.</p>
            <a class="button" href="/operator/system">
              Test a channel
            </a>
          </>
        ) : (
          'No messages were abandoned in the last 30 days.'
        )
      }
      actions={
        <>
          <Choice
            label="Show"
            value={state.value}
            options={[
              { value: 'waiting', text: `Waiting ${counts ? number(counts.waiting) : ''}` },
              { value: 'given_up', text: `Abandoned ${counts ? number(counts.given_up) : ''}` },
            ]}
            onChoose={value => {
              state.value = value
              chosen.value = new Set()
            }}
          />
          <Select
            label="Channel"
            none="All"
            of={['webhook', 'email', 'sms']}
            textOf={words}
            {...bound(kind)}
          />
          {chosen.value.size > 0 && (
            <>
              <button type="button" class="main" onClick={() => void decide('send')}>
                Send {number(chosen.value.size)} now
              </button>
              {state.value === 'waiting' && (
                <Confirmed
                  label="Drop"
                  question={`Drop ${number(chosen.value.size)} messages? They will not be sent.`}
                  onConfirm={() => decide('drop')}
                />
              )}
            </>
          )}
        </>
      }
      columns={({ column, numeric }) => [
        column('Message', 'event_type', message => (
          <div class="row choose">
            <input
              type="checkbox"
              aria-label={`Select ${message.event_type}${message.email ? ` for ${message.email}` : ''}`}
              {...boundIn(chosen, message.id)}
            />
            <span>
              {message.event_type}
              <span class="quiet small block">{message.email ?? 'from the service'}</span>
            </span>
          </div>
        )),
        column('Channel', 'kind', { isWide: true, write: words }),
        numeric('Attempts', 'attempts', { isWide: true }),
        column('Last response', ({ error, status_code: code }) => error ?? code ?? '', {
          className: 'break',
          show: message => (
            <>
              {message.status_code !== null && <Tag mood="warn">{message.status_code}</Tag>}{' '}
              <span class="small">{message.error ?? (message.attempts === 0 ? '–' : '')}</span>
            </>
          ),
        }),
        column(
          state.value === 'waiting' ? 'Next attempt' : 'Abandoned',
          message => message.next_attempt_at ?? message.given_up_at,
          {
            className: 'quiet nowrap',
            show: message =>
              message.given_up_at
                ? instant(message.given_up_at)
                : message.next_attempt_at
                  ? dueAt(message.next_attempt_at)
                  : 'not scheduled',
          },
        ),
      ]}
    />
  )
}
