import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { LogLines } from '../../../topics/operator/operations/system/logs.ts'
import { Parted, Refused, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Choice, Input } from '../../parts/fields.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { bound, sets } from '../../parts/text/form.ts'
import { second } from '../../parts/text/format.ts'

const linesMax = 500
const askAgainMs = 2000
const levels: Readonly<Record<string, 'warn' | 'bad'>> = { warn: 'warn', error: 'bad' }

/** The levels of a choice: a warning and what is worse, or errors only. */
const levelsFrom = { '': /^/, warn: /^(warn|error)$/, error: /^error$/ } as const

const textLine = /^(\S+Z) (DEBUG|INFO|WARN|ERROR) +(\S+) ?(.*)$/

/** The parts of a line, be it JSON or text; of any other, the line alone. */
function partsOf(line: string): { at: string; level: string; event: string; rest: string } {
  try {
    const { ts, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
    return {
      at: String(ts ?? ''),
      level: String(level ?? ''),
      event: String(msg ?? ''),
      rest: Object.entries(rest)
        .map(([name, value]) =>
          name === 'message' ? String(value) : `${name}=${JSON.stringify(value)}`,
        )
        .join(' '),
    }
  } catch {
    const [, at = '', level = '', event = '', rest = line] = textLine.exec(line) ?? []
    return { at, level: level.toLowerCase(), event, rest }
  }
}

/** The log of the process, live. */
export function Logs() {
  const lines = useSignal<LogLines['data']['lines'] | undefined>(undefined)
  const refusal = useSignal<Error | undefined>(undefined)
  const words = useSignal('')
  const isLive = useSignal(true)
  const level = useSignal<'' | 'warn' | 'error'>('')
  useEffect(() => {
    let isOver = false
    let last = 0
    lines.value = undefined
    const read = async () => {
      const query = new URLSearchParams({ after: String(last), limit: String(linesMax) })
      if (words.value) query.set('contains', words.value)
      try {
        const { data } = await asOperator<LogLines>(`/admin/v1/logs?${query}`)
        if (isOver) return
        // The numbering starts again after a restart.
        lines.value = [
          ...data.lines.toReversed(),
          ...(data.last < last ? [] : (lines.value ?? [])),
        ].slice(0, linesMax)
        last = data.last
        refusal.value = undefined
      } catch (error) {
        if (!isOver) refusal.value = error as Error
      }
    }
    void read()
    const timer = isLive.value ? setInterval(() => void read(), askAgainMs) : undefined
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [words.value, isLive.value])
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Log"
        rows={lines.value?.filter(({ line }) => levelsFrom[level.value].test(partsOf(line).level))}
        of={{ isLoading: lines.value === undefined && !refusal.value, refusal: undefined }}
        keyOf={({ number }) => String(number)}
        isTall
        className="lines"
        empty={
          words.value || level.value
            ? 'No matching lines. Choose another level or other words.'
            : 'Nothing has been logged since the start. New lines appear here automatically.'
        }
        note={`Newest first: up to ${linesMax} lines since the last start.`}
        actions={
          <>
            <Choice
              label="Level"
              of={level}
              options={[
                { value: '', text: 'All' },
                { value: 'warn', text: 'Warnings' },
                { value: 'error', text: 'Errors' },
              ]}
            />
            <Input
              label="Contains"
              type="search"
              maxLength={100}
              placeholder="warn"
              {...bound(words)}
            />
            <Button label="Live" isPressed={isLive.value} onClick={sets(isLive, !isLive.value)} />
          </>
        }
        columns={({ column }) => [
          column('Event', ({ line }) => partsOf(line).event, {
            show: ({ line, number }) => {
              const { event, at, level } = partsOf(line)
              return (
                <>
                  {level && <Tag mood={levels[level]}>{level}</Tag>}{' '}
                  <Parted text={event || `Line ${number}`} />
                  <div class="quiet small">{second(at)}</div>
                </>
              )
            },
          }),
          column('Line', 'line', {
            className: 'code break',
            show: ({ line }) => partsOf(line).rest,
          }),
        ]}
      />
    </>
  )
}
