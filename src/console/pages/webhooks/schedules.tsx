import type { DeliveryShape as ScheduledDelivery } from '../../../topics/deliveries/operations/row.ts'
import type { WatchShape as Watch } from '../../../topics/watches/operations/row.ts'
import { May, Parted, Refused, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { useChange, useData } from '../../parts/requests/ask.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { RowButtons } from '../../parts/tables/row-buttons.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { agoOrDash, instant, words } from '../../parts/text/format.ts'
import { NewDelivery, NewWatch } from './schedule-forms.tsx'

const scheduleOf = (seconds: number): string =>
  seconds % 3600 === 0 ? `${seconds / 3600} h` : `${Math.round(seconds / 60)} min`

const watchesPath = '/v1/subscriptions'

/** Codes that are evaluated on a schedule. */
export function Watches() {
  const answer = useData<{ subscriptions: Watch[] }>(watchesPath)
  const { refusal, change } = useChange(answer)
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Watches"
        of={answer}
        rows={answer.data?.subscriptions}
        hasPlaces
        empty="No watches yet. Enter codes below to check them on a schedule."
        columns={({ column, numeric }) => [
          column('Watch', ({ name, codes }) => name ?? codes.join(', '), {
            show: ({ name, codes }) =>
              twoLines(name ?? 'Unnamed', <Parted text={codes.join(', ')} />, 'code break'),
          }),
          numeric('Every', 'interval_seconds', row => scheduleOf(row.interval_seconds)),
          column('Notifies', 'threshold_percent', {
            isWide: true,
            show: row =>
              row.threshold_percent === null
                ? 'on every run'
                : `on moves of ${row.threshold_percent}% or more`,
          }),
          column('Next run', 'next_run_at', { ...aside, write: agoOrDash }),
          column('State', 'status', ({ status }) => (
            <Tag mood={status === 'active' ? 'good' : 'warn'}>{words(status)}</Tag>
          )),
          {
            ...actions,
            needs: 'change_data',
            show: ({ id, name, codes, status }) => (
              <RowButtons
                isOn={status === 'active'}
                onTurn={isOn =>
                  change(`/v1/subscriptions/${id}`, 'PATCH', { status: isOn ? 'active' : 'paused' })
                }
                question={`Delete the watch “${name ?? codes.join(', ')}”?`}
                onDelete={() => change(`/v1/subscriptions/${id}`, 'DELETE')}
              />
            ),
          },
        ]}
      />
      <May action="change_data">
        <NewWatch onMake={body => change(watchesPath, 'POST', body)} />
      </May>
    </>
  )
}

const deliveriesPath = '/v1/scheduled-deliveries'

/** Prices by e-mail on a schedule. */
export function Deliveries() {
  const answer = useData<ScheduledDelivery[]>(deliveriesPath)
  const { refusal, change } = useChange(answer)
  const pathOf = ({ id }: ScheduledDelivery) => `${deliveriesPath}/${id}`
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Scheduled deliveries"
        file="deliveries"
        of={answer}
        rows={answer.data}
        hasPlaces
        empty="No scheduled deliveries yet. Enter codes below to receive their prices by e-mail."
        columns={({ column }) => [
          column('Delivery', row => row.name ?? row.commodity_codes.join(', '), {
            show: row =>
              twoLines(
                row.name ?? 'Unnamed',
                <Parted text={row.commodity_codes.join(', ')} />,
                'code break',
              ),
          }),
          column('To', 'recipient_email', { isWide: true }),
          column('When', row => `${row.cadence} ${row.delivery_time} ${row.time_zone}`, {
            show: row => twoLines(`${words(row.cadence)}, ${row.delivery_time}`, row.time_zone),
          }),
          column('Next', 'next_delivery_at', { ...aside, write: instant }),
          column('Last', row => row.last_run?.status, {
            isWide: true,
            show: ({ last_run: run, enabled }) => (
              <>
                {!enabled && <Tag mood="warn">Paused</Tag>}{' '}
                {run ? words(run.status) : enabled && '–'}
                {run?.error && <div class="quiet small">{run.error}</div>}
              </>
            ),
          }),
          {
            ...actions,
            needs: 'change_data',
            show: row => (
              <RowButtons
                isOn={row.enabled}
                onTurn={enabled =>
                  change(pathOf(row), 'PATCH', { scheduled_delivery: { enabled } })
                }
                question={`Delete the delivery to ${row.recipient_email}?`}
                onDelete={() => change(pathOf(row), 'DELETE')}
              >
                <Button
                  className="tight"
                  label="Send"
                  onClick={() => change(`${pathOf(row)}/send_now`, 'POST', {})}
                />
              </RowButtons>
            ),
          },
        ]}
      />
      <May action="change_data">
        <NewDelivery onMake={body => change(deliveriesPath, 'POST', body)} />
      </May>
    </>
  )
}
