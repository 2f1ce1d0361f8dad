import { useSignal } from '@preact/signals'
import type {
  SourceShape as Source,
  LogShape as Sync,
} from '../../../topics/sources/operations/row.ts'
import type { Rotated, Tested } from '../../../topics/sources/operations/syncs.ts'
import { May, Notice, Result, Tag } from '../../parts/bits.tsx'
import { Button, Copy } from '../../parts/buttons.tsx'
import { Input, Select, Submit } from '../../parts/fields.tsx'
import { dataOf, useAttempt, useChange, useData } from '../../parts/requests/ask.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { RowButtons } from '../../parts/tables/row-buttons.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound, fieldsOf, sets, submits } from '../../parts/text/form.ts'
import { ago, instant, number, words } from '../../parts/text/format.ts'

const moods: Readonly<Record<Source['status'], 'good' | 'warn' | 'bad'>> = {
  active: 'good',
  pending: 'warn',
  paused: 'warn',
  error: 'bad',
  failed: 'bad',
}

/** The account's sources of private prices. */
export function Sources() {
  const answer = useData<{ data_sources: Source[] }>('/v1/data-sources')
  const { change, ...outcome } = useChange(answer)
  const tested = useSignal<{ source: Source; outcome: Tested['data'] } | undefined>(undefined)
  const open = useSignal<string | undefined>(undefined)
  const rows = answer.data?.data_sources
  const chosen = rows?.find(({ id }) => id === open.value)
  const test = (source: Source) => {
    tested.value = undefined
    return change(`/v1/data-sources/${source.id}/test`, 'POST', undefined, ({ data }: Tested) => {
      tested.value = { source, outcome: data }
    })
  }
  return (
    <>
      <Result {...outcome} />
      {tested.value && <Outcome source={tested.value.source} outcome={tested.value.outcome} />}
      <Table
        caption="Your sources"
        file="sources"
        of={answer}
        rows={rows}
        empty="No data sources yet. Add one below to fetch or push your own marine fuel prices. Only your account sees them."
        columns={({ column, numeric }) => [
          column('Source', 'name', source => (
            <>
              {source.name}
              <div class="quiet small">
                {words(source.source_type)}
                {source.has_credentials && ', with credentials'}
              </div>
              {source.last_error && <div class="quiet small">{source.last_error}</div>}
            </>
          )),
          column('Last sync', 'last_sync_at', { ...aside, write: ago }),
          column('Next sync', 'next_sync_at', { ...aside, write: instant }),
          numeric('Synced', 'successful_syncs', { isWide: true }),
          numeric('Failed', 'failed_syncs', { isWide: true }),
          column('State', 'status', ({ status }) => (
            <Tag mood={moods[status]}>{words(status)}</Tag>
          )),
          {
            ...actions,
            needs: 'change_data',
            show: source => (
              <RowButtons
                isOn={source.status !== 'paused'}
                onTurn={isOn =>
                  change(`/v1/data-sources/${source.id}`, 'PATCH', {
                    data_source: { status: isOn ? 'active' : 'paused' },
                  })
                }
                question={`Delete “${source.name}” with its rows, its credentials and its log?`}
                onDelete={() => change(`/v1/data-sources/${source.id}`, 'DELETE')}
              >
                <Button className="tight" label="Test" onClick={() => test(source)} />
                <Button
                  className="tight"
                  label="Log"
                  isPressed={open.value === source.id}
                  onClick={sets(open, open.value === source.id ? undefined : source.id)}
                />
              </RowButtons>
            ),
          },
        ]}
      />
      {chosen && <Opened source={chosen} key={chosen.id} />}
      {rows && (
        <>
          <May action="change_data">
            <Making isFirst={rows.length === 0} onMade={answer.reload} />
          </May>
          <p class="quiet small">
            <a href="/docs?operation=getDataConnectorPrices">GET /v1/prices/data-connector</a>{' '}
            returns their prices, to your account only.
          </p>
        </>
      )}
    </>
  )
}

const Outcome = ({ source, outcome }: { source: Source; outcome: Tested['data'] }) => (
  <>
    <Notice mood={outcome.success ? 'good' : 'bad'}>
      {outcome.success
        ? `${source.name} works: a sync would record ${number(outcome.records_count ?? 0)} rows and skip ${number(outcome.rejected)}.`
        : `${source.name} cannot be read: ${outcome.error}`}
      {outcome.rejections.slice(0, 3).map(text => (
        <div class="small" key={text}>
          {text}
        </div>
      ))}
    </Notice>
    {outcome.sample_data.length > 0 && (
      <Table
        caption="The first rows"
        file="sample"
        rows={outcome.sample_data}
        keyOf={(_, i) => String(i)}
        empty="No rows."
        columns={({ column, numeric }) => [
          column('Port', 'port'),
          column('Fuel', 'fuel_type'),
          numeric('Price', 'price'),
          column('Time', 'timestamp', { isWide: true, write: instant }),
        ]}
      />
    )}
  </>
)

/** The log of one source, its address for pushes, and new credentials. */
function Opened({ source }: { source: Source }) {
  const answer = useData<{ logs: Sync[] }>(`/v1/data-sources/${source.id}/logs`)
  const { change, ...outcome } = useChange(answer)
  const name = source.source_type === 'webhook' ? 'secret' : 'token'
  const rotate = (form: HTMLFormElement) => {
    const body = { credentials: { [name]: fieldsOf(form)('secret') } }
    return change(
      `/v1/data-sources/${source.id}/rotate_credentials`,
      'POST',
      body,
      ({ data }: Rotated) => {
        form.reset()
        return data.message
      },
    )
  }
  return (
    <>
      {source.ingest_url && (
        <Notice>
          <div class="row spread">
            <span>
              Push rows to <code class="break">{source.ingest_url}</code>
            </span>
            <Copy text={source.ingest_url} className="tight" />
          </div>
        </Notice>
      )}
      <Table
        outcome={outcome}
        caption={`Log of ${source.name}`}
        file="syncs"
        of={answer}
        rows={answer.data?.logs}
        empty={
          source.source_type === 'webhook'
            ? 'No rows received yet. Send rows to the address above, signed with the secret.'
            : 'Not synced yet. The first sync starts automatically; Test reads it now.'
        }
        isTall
        actions={
          <May action="change_data">
            <form class="row end" onSubmit={submits(rotate)}>
              <Input
                label={`New ${name}`}
                name="secret"
                type="password"
                required
                minLength={16}
                autocomplete="off"
              />
              <button type="submit">Replace</button>
            </form>
          </May>
        }
        columns={({ column, numeric }) => [
          column('Sync', 'started_at', sync =>
            twoLines(instant(sync.started_at), sync.error ?? sync.rejections[0] ?? ''),
          ),
          column('Started by', 'trigger', { isWide: true }),
          numeric('Rows', 'received'),
          numeric('New', 'inserted', { isWide: true }),
          numeric('Revised', 'revised', { isWide: true }),
          numeric('Rejected', 'rejected', { isWide: true }),
          column('State', 'status', ({ status }) => (
            <Tag mood={status === 'success' ? 'good' : 'bad'}>{words(status)}</Tag>
          )),
        ]}
      />
    </>
  )
}

const kinds = [
  { value: 'api', text: 'An address' },
  { value: 'webhook', text: 'Rows that you push' },
  { value: 'file', text: 'A file on the server' },
] as const

/** The body that makes a source, of the fields that were filled. */
function bodyOf(form: HTMLFormElement, kind: string): object {
  const field = fieldsOf(form)
  const text = (name: string) => field(name) || undefined
  const pairs = (name: string): Record<string, string> | undefined => {
    const written = text(name)
    if (written === undefined) return undefined
    const entries = written.split(/[,\n]+/).map(pair => pair.split('=').map(part => part.trim()))
    const wrong = entries.find(([left, right]) => !left || !right)
    if (wrong)
      throw new Error(`A mapping must be a pair such as price=usd.mid; got “${wrong.join('=')}”.`)
    return Object.fromEntries(entries) as Record<string, string>
  }
  const secret = text('secret')
  return {
    data_source: {
      name: text('name'),
      source_type: kind,
      scraper_config: {
        url: text('url'),
        path: text('path'),
        items: text('items'),
        fields: pairs('fields'),
        defaults: pairs('defaults'),
        ...(kind !== 'webhook' && { interval_minutes: Number(text('interval') ?? 60) }),
      },
      ...(secret && { credentials: kind === 'webhook' ? { secret } : { token: secret } }),
    },
  }
}

function Making({ isFirst, onMade }: { isFirst: boolean; onMade: () => Promise<void> }) {
  const kind = useSignal<string>('api')
  const { attempt, ...outcome } = useAttempt()
  const make = (form: HTMLFormElement) =>
    attempt(async () => {
      // Inside, because a wrong mapping is refused before anything is sent.
      const body = bodyOf(form, kind.value)
      const source = await dataOf<Source>('/v1/data-sources', { method: 'POST', body })
      form.reset()
      await onMade()
      return source.ingest_url
        ? `${source.name} was created. Push rows to ${source.ingest_url}`
        : `${source.name} was created. Its first sync starts now.`
    })
  return (
    <details class="card" aria-labelledby="new-source" open={isFirst}>
      <summary id="new-source">Add a source</summary>
      <Result {...outcome} />
      <form class="grid roomy" onSubmit={submits(make)}>
        <Input label="Name" name="name" required maxLength={100} placeholder="Terminal feed" />
        <Select label="From" of={kinds} {...bound(kind)} />
        {kind.value === 'api' && (
          <Input
            label="Address"
            labelClass="wide"
            name="url"
            type="url"
            required
            placeholder="https://prices.example.com/bunkers.json"
          />
        )}
        {kind.value === 'file' && (
          <Input
            label="Path in the operator’s import directory"
            labelClass="wide"
            name="path"
            required
            placeholder="terminal/today.csv"
          />
        )}
        <Input
          label="List in the JSON"
          name="items"
          placeholder="data.prices; empty: the whole response"
        />
        <Input label="Field mapping" name="fields" placeholder="price=usd.mid, timestamp=time" />
        <Input
          label="Values for missing fields"
          name="defaults"
          placeholder="port=SINGAPORE, currency=USD"
        />
        {kind.value !== 'webhook' && (
          <Input
            label="Interval, minutes"
            name="interval"
            type="number"
            min={1}
            max={10080}
            placeholder="60"
          />
        )}
        {kind.value !== 'file' && (
          <Input
            label={
              kind.value === 'webhook'
                ? 'Secret (at least 16 characters)'
                : 'Bearer token (optional)'
            }
            name="secret"
            type="password"
            autocomplete="off"
            required={kind.value === 'webhook'}
            minLength={kind.value === 'webhook' ? 16 : 1}
          />
        )}
        <div class="wide row">
          <Submit>Create source</Submit>
        </div>
      </form>
    </details>
  )
}
