import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, choice } from '../../../../http/input/body-schema.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { stateForbids } from '../../../../http/problem/problem.ts'
import { isoOrNull } from '../../../../lib/time/instant.ts'
import type { DeskTask } from '../../service/backup-desk.ts'

const operator = { operator: 'service' } as const
const whats = ['make', 'check'] as const
const moment = t.String({ format: 'date-time' })

const TaskShape = t.object('BackupTask', {
  what: t.oneOf(whats),
  started_at: moment,
  ended_at: t.orNull(moment, 'Null while it is running.'),
  is_fine: t.orNull(t.Boolean(), 'Null while it is running.'),
  message: t.orNull(t.String(), 'Its final message.'),
})
const Listed = envelopeOf({
  is_configured: t.boolean('False if no backup destination is configured, or in a demo instance.'),
  made_at: t.orNull(moment, 'When the last backup was made.'),
  checked_at: t.orNull(moment, 'When the newest backup was last verified.'),
  trouble: t.orNull(t.String(), 'Why the last backup or verification failed.'),
  backups: t.Array(
    t.object('KeptBackup', {
      name: t.String({ examples: ['2026-11-22T18-00-00Z.db'] }),
      made_at: moment,
      bytes: t.integer('Size of the copy, in bytes.', 73400320),
      place: t.String({ examples: ['directory /var/backups/prices'] }),
    }),
    { description: 'Backups of every destination, newest first.' },
  ),
  list_fault: t.orNull(t.String(), 'Why the list cannot be read.'),
  task: t.orNull(TaskShape, 'The last requested task since the start.'),
})
export type BackupList = (typeof Listed)['static']
const Begun = envelope(TaskShape)
const TaskBody = body({ what: choice(whats) })

const taskRow = (task: DeskTask) => answerRow(TaskShape, task, {})

/** Backups in the places of the configuration: which there are, one more, and whether they hold. */
export const backupAdminOperations = [
  operation('GET /admin/v1/backups', {
    operationId: 'listBackups',
    summary: 'List backups',
    description:
      'Returns the backups in the configured destinations, with the times of the last backup and verification.',
    access: operator,
    answers: Listed,
    handle: async ({ at }) => {
      const { backupDesk } = at
      const { backups, fault } = backupDesk.isReady
        ? await backupDesk.list()
        : { backups: [], fault: null }
      const { madeAt, checkedAt, fault: trouble } = backupDesk.status()
      const task = backupDesk.task()
      return success({
        is_configured: backupDesk.isReady,
        made_at: isoOrNull(madeAt),
        checked_at: isoOrNull(checkedAt),
        trouble: trouble ?? null,
        backups,
        list_fault: fault,
        task: task ? taskRow(task) : null,
      })
    },
  }),
  operation('POST /admin/v1/backups', {
    operationId: 'beginBackup',
    summary: 'Create or verify a backup',
    description:
      'Starts a task in a separate process; `GET /admin/v1/backups` returns its result. `make` backs up the database, verifies the backup and stores it in every destination. `check` fetches the newest backup of every destination and verifies it as a restore would.',
    access: operator,
    idempotent: true,
    body: TaskBody.schema,
    answers: { 202: Begun },
    handle: ({ at, body }) => {
      const { backupDesk } = at
      const { what } = TaskBody.read(body)
      if (!backupDesk.isReady)
        throw stateForbids(
          'backups_not_configured',
          'No backup destination is configured. Set backups.directory or backups.s3_bucket and restart.',
        )
      if (!backupDesk.begin(what))
        throw stateForbids(
          'backup_under_way',
          'A backup or verification is in progress. Try again when it has finished.',
        )
      return success(taskRow(backupDesk.task()!))
    },
  }),
]
