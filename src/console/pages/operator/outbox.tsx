import { useSignal } from '@preact/signals'
import type { MessageShape as Message } from '../../../topics/operator/operations/system/outbox-queue.ts'
import { Button, Choice, Confirmed, Notice, Refused, Tag } from '../../parts/bits.tsx'
import { asOperator, useOperator } from '../../parts/person/operator-token.tsx'
import { useAttempt } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { Table } from '../../parts/tables/table.tsx'
import { ago, instant, number } from '../../parts/text/format.ts'

interface Listed {
  messages: Message[]
  counts: { waiting: number; given_up: number }
  meta: { total: number }
}

const perPage = 50

const dueAt = (at: string): string => (Date.parse(at) <= now() ? 'due' : ago(at))

/** Waiting and failed messages of every account. */
export function Outbox() {
  const state = useSignal<'waiting' | 'given_up'>('waiting')
  const kind = useSignal<'' | 'webhook' | 'email' | 'sms'>('')
  const page = useSignal(1)
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const result = useSignal('')
  const query = new URLSearchParams({
    state: state.value,
    per_page: String(perPage),
    page: String(page.value),
  })
  if (kind.value) query.set('kind', kind.value)
  const path = `/admin/v1/outbox?${query}`
  const answer = useOperator<{ data: Listed }>(path)
  const { refusal, attempt } = useAttempt()
  const decide = (what: 'send' | 'drop') =>
    attempt(async () => {
      const { data } = await asOperator<{ data: { count: number } }>(`/admin/v1/outbox/${what}`, {
        method: 'POST',
        body: { ids: [...chosen.value] },
      })
      result.value = `${number(data.count)} ${what === 'send' ? 'being sent' : 'dropped'}.`
      chosen.value = new Set()
      await answer.reload()
    })
  const counts = answer.data?.data.counts
  const pages = Math.max(1, Math.ceil((answer.data?.data.meta.total ?? 0) / perPage))
  const turn = (by: number) => {
    page.value += by
    chosen.value = new Set()
  }
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      {result.value && <Notice mood="good">{result.value}</Notice>}
      <Table
        caption="Messages"
        file="outbox"
        of={answer}
        rows={answer.data?.data.messages}
        keyOf={({ id }) => id}
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
        note={
          pages > 1 && (
            <div class="row">
              <Button
                className="tight"
                label="Back"
                isOff={page.value <= 1}
                onClick={() => turn(-1)}
              />
              <span>
                Page {number(page.value)} of {number(pages)}
              </span>
              <Button
                className="tight"
                label="Next"
                isOff={page.value >= pages}
                onClick={() => turn(1)}
              />
            </div>
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
                page.value = 1
                chosen.value = new Set()
              }}
            />
            <label>
              Channel
              <select
                value={kind.value}
                onChange={event => {
                  kind.value = event.currentTarget.value as typeof kind.value
                  page.value = 1
                }}
              >
                <option value="">All</option>
                <option value="webhook">Webhook</option>
                <option value="email">E-mail</option>
                <option value="sms">Text message</option>
              </select>
            </label>
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
                checked={chosen.value.has(message.id)}
                onChange={event => {
                  const ids = new Set(chosen.value)
                  if (event.currentTarget.checked) ids.add(message.id)
                  else ids.delete(message.id)
                  chosen.value = ids
                }}
              />
              <span>
                {message.event_type}
                <span class="quiet small block">{message.email ?? 'from the service'}</span>
              </span>
            </div>
          )),
          column('Channel', 'kind', { isWide: true }),
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
    </>
  )
}
