import { useSignal } from '@preact/signals'
import type { FlagShape as Flag } from '../../../topics/operator/operations/data/review.ts'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { useOperatorChange, useOperatorPages } from '../../parts/person/operator-token.tsx'
import { pagedRows } from '../../parts/requests/pages.ts'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { boundIn } from '../../parts/text/form.ts'
import { figure, observed, orDash, words } from '../../parts/text/format.ts'

/** Asks for a release, and names what it would replace. */
function releaseQuestion(count: number, supersededCount: number): string {
  const question =
    count === 1
      ? 'Record 1 held value? It is then served.'
      : `Record ${count} held values? They are then served.`
  if (supersededCount === 0) return question
  const what = supersededCount === 1 ? '1 of them replaces' : `${supersededCount} of them replace`
  return `${question} ${count === 1 ? 'It replaces' : what} what was recorded after the hold.`
}

/** Values that the guards held, to be released or rejected. `onDecided`: batches may have changed. */
export function Review({ onDecided }: { onDecided: () => Promise<void> }) {
  const answer = useOperatorPages<Flag>('/admin/v1/review?per_page=100', 'values')
  const { change, ...outcome } = useOperatorChange(answer)
  const chosen = useSignal<ReadonlySet<number>>(new Set())
  const values = answer.rows ?? []
  const chosenValues = values.filter(({ id }) => chosen.value.has(id))
  const ids = chosenValues.map(({ id }) => id)
  const supersededCount = chosenValues.filter(({ superseded }) => superseded !== null).length
  /** A release of the others would replace what was recorded after the hold: each is chosen alone. */
  const selectable = values.filter(({ superseded }) => superseded === null).map(({ id }) => id)
  const areAllChosen = selectable.every(id => chosen.value.has(id))
  const decide = (what: 'release' | 'reject') =>
    change(
      `/admin/v1/review/${what}`,
      'POST',
      {
        ids,
        reason: 'decided in the console',
        ...(what === 'release' && supersededCount > 0 && { replace: true }),
      },
      () => {
        chosen.value = new Set()
        void onDecided()
        return `${ids.length} ${what === 'release' ? 'released' : 'rejected'}.`
      },
    )
  return (
    <Table
      caption="Review queue"
      file="review"
      outcome={outcome}
      {...pagedRows(answer)}
      empty="No values are held for review. Jumps, unit errors, zeros and sign changes appear here."
      isTall
      actions={
        values.length > 0 && (
          <>
            {selectable.length > 0 && (
              <Button
                className="tight"
                label={areAllChosen ? 'Select none' : 'Select all'}
                onClick={() => {
                  chosen.value = areAllChosen ? new Set() : new Set(selectable)
                }}
              />
            )}
            {ids.length > 0 && (
              <>
                <Confirmed
                  label="Release"
                  className="tight main"
                  question={releaseQuestion(ids.length, supersededCount)}
                  onConfirm={() => decide('release')}
                />
                <Confirmed
                  label="Reject"
                  question={`Reject ${ids.length} held ${ids.length === 1 ? 'value' : 'values'} permanently?`}
                  onConfirm={() => decide('reject')}
                />
              </>
            )}
          </>
        )
      }
      columns={({ column, numeric }) => [
        column('Series', 'code', flag => (
          <label class="inline">
            <input type="checkbox" {...boundIn(chosen, flag.id)} />
            <span>
              {flag.code}
              <span class="quiet small"> {observed(flag.observed_at)}</span>
            </span>
          </label>
        )),
        numeric('Before', 'before', {
          isWide: true,
          write: orDash(figure),
        }),
        numeric('Held', 'price', { write: figure }),
        column('Recorded now', 'recorded', ({ recorded, superseded }) =>
          twoLines(orDash(figure)(recorded), superseded ?? ''),
        ),
        column('Why', 'reason', ({ rule, reason }) => twoLines(words(rule), reason)),
        column('From', 'source', { isWide: true }),
      ]}
    />
  )
}
