import type { BackupList } from '../../../topics/operator/operations/system/backups.ts'
import { Figure, Notice, Refused } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { useOperator, useOperatorChange } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { boot } from '../../parts/requests/boot.ts'
import { aside } from '../../parts/tables/columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { ago, instant, number } from '../../parts/text/format.ts'

const taskWords = { make: 'A backup', check: 'Verification of the newest backup' } as const
export const megabytes = (bytes: number): string => `${number(bytes / 1e6, 1)} MB`

/** Which backups there are, one more, and whether the newest can be restored. */
export function Backups() {
  const answer = useOperator<BackupList>('/admin/v1/backups')
  const { refusal, change } = useOperatorChange(answer)
  const desk = answer.data?.data
  const task = desk?.task
  const isInProgress = task !== null && task !== undefined && task.ended_at === null
  useRepeated(isInProgress, answer.reload)
  const begin = (what: 'make' | 'check') => change('/admin/v1/backups', 'POST', { what })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      {desk?.trouble && <Notice mood="bad">Last backup: {desk.trouble}</Notice>}
      {desk?.list_fault && <Notice mood="bad">Backup list: {desk.list_fault}</Notice>}
      {task && (
        <Notice mood={task.is_fine === false ? 'bad' : task.is_fine ? 'good' : undefined}>
          {taskWords[task.what]}{' '}
          {task.ended_at === null ? 'is running …' : `finished ${instant(task.ended_at)}.`}{' '}
          {task.message}
        </Notice>
      )}
      {desk?.is_configured && (
        <section class="figures" aria-label="Summary">
          <Figure label="Last backup">{ago(desk.made_at)}</Figure>
          <Figure label="Last verified">{ago(desk.checked_at)}</Figure>
          <Figure label="Stored">{number(desk.backups.length)}</Figure>
        </section>
      )}
      <Table
        caption="Stored backups"
        file="backups"
        of={answer}
        rows={desk?.backups}
        keyOf={({ name, place }) => `${place} ${name}`}
        empty={
          desk?.is_configured ? (
            'No backups yet. Create one now; scheduled backups follow automatically.'
          ) : (
            <>
              <p>
                {boot.isEvaluation
                  ? 'A demo instance makes no backups. On your own instance, set '
                  : 'Backups are not configured: set '}
                <code>backups.directory</code> or <code>backups.s3_bucket</code> and restart.
                Backups then run on a schedule, and this page lists and verifies them.
              </p>
              <a class="button" href="/docs/backups">
                Set up backups
              </a>
            </>
          )
        }
        isTall
        note={
          <>
            To restore, stop the server and run <code>wellhead restore --from latest</code>.
            Verification reads the newest backup of every destination as a restore would.
          </>
        }
        actions={
          desk?.is_configured && (
            <>
              <Button label="Verify newest" isOff={isInProgress} onClick={() => begin('check')} />
              <Button
                className="main"
                label="Back up now"
                isOff={isInProgress}
                onClick={() => begin('make')}
              />
            </>
          )
        }
        columns={({ column, numeric }) => [
          column('Backup', 'name', backup => twoLines(backup.name, backup.place)),
          numeric('Size', 'bytes', { fileName: 'bytes', show: ({ bytes }) => megabytes(bytes) }),
          column('Created', 'made_at', { ...aside, write: instant }),
        ]}
      />
    </>
  )
}
