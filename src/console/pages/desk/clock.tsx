import { signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Refused, Shown, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Input } from '../../parts/fields.tsx'
import { asOperator, useOperator } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { useAttempt } from '../../parts/requests/ask.ts'
import { setNow } from '../../parts/requests/boot.ts'
import { bound, submits } from '../../parts/text/form.ts'
import { instant } from '../../parts/text/format.ts'

interface ClockState {
  now: string
  frozen: boolean
}

const steps = [
  { text: '1 minute', by: 'PT1M' },
  { text: '1 hour', by: 'PT1H' },
  { text: '1 day', by: 'P1D' },
  { text: '1 week', by: 'P7D' },
] as const

const movedElsewhere = signal(0)

/** Call this when something other than the clock's own buttons moved it. */
export const lookAtClock = (): void => {
  movedElsewhere.value += 1
}

/** The clock of this instance, which can be moved from every part of the desk. */
export function Clock() {
  const answer = useOperator<ClockState>('/_dev/clock')
  const { refusal, isBusy: isMoving, attempt } = useAttempt()
  const to = useSignal('')
  /** Where the clock is on its way. */
  const reached = useSignal<string | undefined>(undefined)
  // A running clock is read repeatedly.
  useRepeated(answer.data?.frozen === false, answer.reload)
  const moves = movedElsewhere.value
  const seenMoves = useRef(moves)
  useEffect(() => {
    if (seenMoves.current === moves) return
    seenMoves.current = moves
    void answer.reload()
  })
  const at = answer.data?.now
  useEffect(() => {
    if (at !== undefined) setNow(Date.parse(at))
  }, [at])
  /** A week of prices takes a while: the clock is read on the way. */
  useRepeated(isMoving.value, async () => {
    const { now } = await asOperator<ClockState>('/_dev/clock')
    if (isMoving.value) reached.value = now
  })
  const move = async (body: object) => {
    await attempt(async () => {
      answer.set(await asOperator<ClockState>('/_dev/clock', { method: 'POST', body }))
    })
    reached.value = undefined
  }
  return (
    <section class="card slim" aria-labelledby="clock">
      <h2 id="clock" class="only-heard">
        Clock
      </h2>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="the clock">
        {({ now, frozen }) => (
          <div class="row spread">
            <p class="row" role="status">
              <strong class="now">{instant(reached.value ?? now)}</strong>
              {isMoving.value ? (
                <Tag>Moving: generating prices and sending due messages …</Tag>
              ) : frozen ? (
                <Tag mood="warn">Frozen</Tag>
              ) : (
                <Tag mood="good">Running</Tag>
              )}
            </p>
            {isMoving.value && <progress aria-label="The clock is moving" />}
            <div class="row">
              {steps.map(({ text, by }) => (
                <Button
                  className="tight"
                  key={text}
                  label={`+ ${text}`}
                  isOff={isMoving.value}
                  onClick={() => move({ advance: by })}
                />
              ))}
              <Button
                className="tight"
                label={frozen ? 'Unfreeze' : 'Freeze'}
                isOff={isMoving.value}
                onClick={() => move({ freeze: !frozen })}
              />
            </div>
            <form class="row" onSubmit={submits(() => move({ now: `${to.value}T12:00:00Z` }))}>
              <Input
                label="Run clock until"
                labelClass="inline small"
                type="date"
                class="tight"
                required
                min={now.slice(0, 10)}
                {...bound(to)}
              />
              <button type="submit" class="tight" aria-disabled={isMoving.value}>
                Run
              </button>
            </form>
          </div>
        )}
      </Shown>
    </section>
  )
}
