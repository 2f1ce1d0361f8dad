import { useSignal } from '@preact/signals'
import { dayMs } from '../../../lib/time/instant.ts'
import type {
  FeedShape as Feed,
  RunShape as Run,
} from '../../../topics/operator/operations/data/feeds.ts'
import { Result, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { useOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { now } from '../../parts/requests/boot.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'
import { ago, agoOrDash, number, words } from '../../parts/text/format.ts'
import { FeedSettings } from './feed-settings.tsx'

/** The severity of each feed state. */
export const feedMoods: Readonly<Record<string, 'good' | 'warn' | 'bad'>> = {
  ok: 'good',
  late: 'warn',
  failing: 'bad',
  needs_key: 'warn',
  needs_license: 'warn',
}

const dotDays = 14
const runsMax = 100

const isGood = ({ problem }: Run): boolean => problem === null

/** Two weeks of a feed as a dot a day: the worst run of each. */
export function Dots({ feed }: { feed: Feed }) {
  const path = `/admin/v1/feeds/${feed.name}/runs?per_page=${runsMax}`
  const answer = useOperator<{ runs: Run[] }>(path)
  const today = Math.floor(now() / dayMs)
  const days = Array.from({ length: dotDays }, (_, i) => {
    const day = today - dotDays + 1 + i
    const runs = (answer.data?.runs ?? []).filter(
      ({ started_at: at }) => Math.floor(Date.parse(at) / dayMs) === day,
    )
    return { day, mood: runs.length === 0 ? '' : runs.every(isGood) ? 'good' : 'bad' }
  })
  const failed = days.filter(({ mood }) => mood === 'bad').length
  const ran = days.filter(({ mood }) => mood !== '').length
  const text = `Ran on ${ran} of ${dotDays} days, with errors on ${failed}`
  return (
    <span class="dots" role="img" aria-label={text} title={text}>
      {days.map(({ day, mood }) => (
        <i key={day} class={`dot ${mood}`} />
      ))}
    </span>
  )
}

/** The time, the rows and the fault of a feed's last run. */
export const LastRun = ({ run }: { run: Run | null }) =>
  run === null ? (
    <>–</>
  ) : (
    <>
      {ago(run.started_at)}, {number(run.inserted + run.revised)} rows
      {run.problem && <div class="small">{run.problem.message}</div>}
      {run.notes.map(({ message }) => (
        <div class="small" key={message}>
          {message}
        </div>
      ))}
    </>
  )

/** Public sources: when they are read next, and runs by hand. */
export function Feeds() {
  const answer = useOperator<{ feeds: Feed[] }>('/admin/v1/feeds')
  const { change, ...outcome } = useOperatorChange(answer)
  const post = (name: string, what: string) => change(`/admin/v1/feeds/${name}/${what}`, 'POST', {})
  const edited = useSignal<Feed | undefined>(undefined)
  const put = (feed: Feed, setting: Record<string, unknown>) =>
    change(`/admin/v1/feeds/${feed.name}`, 'PUT', setting, sets(edited, undefined))
  return (
    <>
      <Result {...outcome} />
      {edited.value && (
        <FeedSettings
          key={edited.value.name}
          feed={edited.value}
          onPut={setting => void put(edited.value!, setting)}
          onCancel={sets(edited, undefined)}
        />
      )}
      <Table
        caption="Public sources"
        file="feeds"
        of={answer}
        rows={answer.data?.feeds}
        empty="No feeds."
        note="Feed settings in the configuration file override settings made here."
        columns={({ column, numeric }) => [
          column('Source', 'name', feed => twoLines(feed.title, feed.name, 'code')),
          numeric('Codes', 'codes', { isWide: true }),
          column('Newest data', 'last_new_at', { ...aside, write: ago }),
          column('Last run', feed => feed.last_run?.started_at, {
            isWide: true,
            className: 'quiet',
            show: feed => <LastRun run={feed.last_run} />,
          }),
          {
            name: '14 days',
            isWide: true,
            show: feed => feed.state !== 'off' && <Dots feed={feed} />,
          },
          column('Next run', 'next_run_at', { ...aside, write: agoOrDash }),
          column('State', 'state', ({ state }) => (
            <Tag mood={feedMoods[state]}>{words(state)}</Tag>
          )),
          {
            ...actions,
            show: feed => (
              <div class="row">
                <Button
                  className="tight"
                  label={feed.state === 'off' ? 'Enable' : 'Edit'}
                  onClick={() => {
                    edited.value = feed
                    scrollTo(0, 0)
                  }}
                />
                {feed.state !== 'off' && (
                  <>
                    <Button className="tight" label="Run" onClick={() => post(feed.name, 'run')} />
                    <Button
                      className="tight"
                      label={feed.state === 'paused' ? 'Resume' : 'Pause'}
                      onClick={() =>
                        void post(feed.name, feed.state === 'paused' ? 'resume' : 'pause')
                      }
                    />
                  </>
                )}
              </div>
            ),
          },
        ]}
      />
    </>
  )
}
