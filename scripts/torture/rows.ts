/** A promise, and the tests that try to break it. */
export interface TortureRow {
  id: string
  promise: string
  /** The forbidden outcome, and the number of attempts at full size. */
  bar: string
  /** Test files, which take their full sizes from WELLHEAD_TORTURE=1. */
  tests?: readonly string[]
  /** A script of this folder that prints one line of JSON; it runs before the tests. */
  script?: readonly string[]
  /** The part of the row that no test covers yet. */
  open?: string
}

/** In the order of the design; `bun run torture` runs all of them, or the given ones. */
export const tortureRows: readonly TortureRow[] = [
  {
    id: 'R01',
    promise: 'A kill loses no acknowledged write',
    bar: '200 kills of a server that takes prices and sends webhooks, 100 while the WAL is checkpointed or written, 10 of an import: 0 events lost, none under two ids, no page taken for damaged',
    tests: [
      'test/e2e/sending/outbox-crash.test.ts',
      'test/e2e/storage/crash.test.ts',
      'test/e2e/storage/checksum-crash.test.ts',
    ],
  },
  {
    id: 'R02',
    promise: 'A power cut loses no acknowledged write',
    bar: '1,000 cuts of a recorded sequence of writes: 0 databases that are not sound, 0 accounts lost of which the making was answered',
    script: ['power-cuts.ts'],
  },
  {
    id: 'R03',
    promise: 'A kill at a named point loses nothing and leaves nothing behind',
    bar: '11 points of commit, claim, sending, mark, e-mail, checkpoint and retention, 20 kills at each (a migration: R22): everything acknowledged arrives before the next kill, under one id, and nothing waits',
    script: ['named-points.ts', '20'],
  },
  {
    id: 'R04',
    promise: 'A full disk is refused with a code, and the service recovers by itself',
    bar: 'a file system of a few megabytes, filled and freed',
    tests: ['test/e2e/storage/full-disk.test.ts'],
  },
  {
    id: 'R05',
    promise: 'A disk that returns errors acknowledges no write',
    bar: '100 times every write or every sync fails (strace) while accounts are created: 0 acknowledged in error, 0 acknowledged and lost, and the same server continues',
    script: ['io-errors.ts'],
  },
  {
    id: 'R07',
    promise: 'No flipped bit is taken for data',
    bar: '500 flips over the database of a demo instance: 0 that change a table unnoticed by verify',
    script: ['flips.ts', '500'],
  },
  {
    id: 'R08',
    promise: 'One process writes a directory',
    bar: 'a second server, a lock file that was deleted, a lock of a killed process',
    tests: ['test/lib/files/directory-lock.test.ts', 'test/cli/server/socket.test.ts'],
  },
  {
    id: 'R10',
    promise: 'A stop cuts off no request',
    bar: '50 stops (SIGTERM) with 20 requests under way or unread: all answered whole, the exit code is 0',
    script: ['stops.ts'],
  },
  {
    id: 'R11',
    promise: 'A clock that is wrong for seconds changes nothing',
    bar: 'jumps of seconds to a hundred years, forward and back',
    tests: ['test/lib/time/clock-jumps.test.ts', 'test/instance/jobs/clock.test.ts'],
    script: ['false-clock.ts'],
  },
  {
    id: 'R12',
    promise: 'Every message is retried as often and as late as documented',
    bar: 'receivers that fail 0 to 6 times: attempts and waits exact',
    tests: ['test/instance/jobs/outbox.test.ts', 'test/outbox'],
  },
  {
    id: 'R13',
    promise: 'A delivery goes out at its local time in every time zone',
    bar: '100,000 cases over all zones against an oracle: 0 differences',
    tests: ['test/plans/messages/delivery-schedule.test.ts'],
  },
  {
    id: 'R14',
    promise: 'Work that fell due while the service was down happens once',
    bar: 'stops across due times: 0 missed, 0 twice',
    tests: ['test/instance/jobs/deliveries.test.ts', 'test/instance/jobs/watches.test.ts'],
  },
  {
    id: 'R16',
    promise: 'Rate windows are exact',
    bar: '10,000 sequences against a naive log: 0 differences',
    tests: ['test/plans/rates/rate.test.ts'],
  },
  {
    id: 'R17',
    promise: 'Addresses and keys cannot fill the memory',
    bar: 'a million addresses: their windows under 64 MB',
    tests: ['test/plans/rates/rate.test.ts'],
  },
  {
    id: 'R18',
    promise: 'No receiver of webhooks harms the sender',
    bar: 'each misbehaviour ends in its state',
    tests: ['test/send/webhooks'],
  },
  {
    id: 'R19',
    promise: 'No e-mail goes out twice, whatever the provider does',
    bar: 'a stand-in behind the address of the provider: 0 double mails',
    tests: ['test/send/messages', 'test/topics/messages/service'],
  },
  {
    id: 'R20',
    promise: 'Memory and descriptors stay level',
    bar: 'an hour of mixed load: anonymous memory grows by less than 1 MB in ten minutes, open files not at all, 0 five-hundreds',
    script: ['soak.ts'],
  },
  {
    id: 'R21',
    promise: 'The outbox keeps its invariants under random faults',
    bar: '10,000 seeds of 500 steps',
    tests: ['test/instance/jobs/outbox-simulation.test.ts'],
  },
  {
    id: 'R22',
    promise: 'A migration happens completely or not at all, and a newer file is refused',
    bar: 'every version that was written; a kill at 400 writes of an upgrade, which lie closer than its statements',
    tests: ['test/database/database.test.ts'],
    script: ['upgrade-kills.ts'],
  },
  {
    id: 'R23',
    promise: 'A backup is a consistent moment, and a restore is complete or nothing',
    bar: '50 backups of a server that writes: each a prefix with all that was acknowledged before it, at most 10 ms more at the p99 of a write; kills at every part of a restore; empty, foreign and damaged backups',
    script: ['backups.ts', '50'],
    tests: ['test/cli/backups/restore.test.ts', 'test/cli/backups/restore-outbox.test.ts'],
  },
  {
    id: 'R25',
    promise: 'Heavy requests delay no other request',
    bar: 'latest while analytics run',
    tests: ['test/e2e/load/overload.test.ts', 'test/e2e/load/readers.test.ts'],
  },
  {
    id: 'R26',
    promise: 'No account delays the messages of another',
    bar: '1,000 hanging endpoints of one account, 500 events of another: p99 under 250 ms, a sign-in e-mail under 2 s',
    script: ['neighbours.ts', '1000', '500'],
  },
  {
    id: 'R27',
    promise: 'No file in the data directory stops a start without a message',
    bar: 'empty, zeroed, torn, foreign: it starts, or names the file and the action',
    tests: [
      'test/e2e/operating/first-start.test.ts',
      'test/lib/files/side-file.test.ts',
      'test/lib/secrets/master-key.test.ts',
      'test/database/commit-mark.test.ts',
      'test/database/write-ahead-log.test.ts',
    ],
  },
  {
    id: 'R28',
    promise: 'A public source is read completely, or not at all',
    bar: '20 kills of a backfill end in the database of none; a month of every publisher, day by day, with each value compared',
    tests: ['test/e2e/data/feeds.test.ts', 'test/e2e/data/feeds-month.test.ts'],
  },
  {
    id: 'R31',
    promise: 'A lost machine costs less than the time between two backups',
    bar: '200 writes a second, a backup to S3 every five minutes, kill and deletion: back within 30 s, under five minutes missing, a backup adds at most 10 ms to the p99 of writes',
    script: ['disaster.ts'],
  },
  {
    id: 'R32',
    promise: 'An upgrade ends in the old version or in the new one',
    bar: 'a database of the first schema with 20,000,000 points, asked on: killed at ten moments it is of the old schema or the new, with every point',
    script: ['upgrades.ts'],
  },
  {
    id: 'R33',
    promise: 'An operator is notified of each trouble once, and once when it is over',
    bar: 'a month of the binary under a false clock: silent feed, frozen value, full disk, dead endpoint, spent quota, failed backup; a notice and an e-mail for each, the alert rules fire in a real Prometheus, every query of the dashboard has data',
    tests: ['test/e2e/operating/month.test.ts'],
  },
  {
    id: 'R34',
    promise: 'The package runs on a clean machine, and leaves the data when it is removed',
    bar: 'a new Debian, booted: apt install, own user, healthcheck, exposure of at most 2.0, apt remove',
    script: ['clean-machine.ts'],
  },
  {
    id: 'R35',
    promise: 'Any of three nodes may be killed',
    bar: 'three NATS servers, a primary and two replicas: a million observations, then 200 kills of any process while prices are pushed and read and a quota is used up: both replicas equal the primary, 0 acknowledged values lost, 0 requests over the quota, 0 events twice, 0 reads unanswered, another primary within 10 s',
    script: ['cluster.ts', '200', '1000000'],
  },
  {
    id: 'R36',
    promise: 'A primary that is cut off writes nothing',
    bar: 'a network namespace: the old primary acknowledges nothing while it is cut off and after it, and says who took over within 10 s',
    script: ['partition.ts', 'commit'],
  },
  {
    id: 'R37',
    promise: 'An undo restores what was there before, and history stays',
    bar: '10,000 random sequences of pushes, corrections, deletions, undos and questions as of a moment, and 10,000 of batches and undos of a dataset, against a naive list of everything ever said: 0 differences',
    tests: [
      'test/topics/prices/service/writes/batches.test.ts',
      'test/topics/prices/service/writes/batches-of-datasets.test.ts',
    ],
  },
  {
    id: 'S01',
    promise: 'The resources of another account are as unknown as missing ones',
    bar: 'every path with an id',
    tests: ['test/guards/owners.test.ts'],
  },
  {
    id: 'S02',
    promise: 'A key is accepted as documented, and a restricted one widens nothing',
    bar: 'spellings of keys; scopes over every route',
    tests: ['test/topics/keys/operations'],
  },
  {
    id: 'S03',
    promise: 'No secret is stored in clear text',
    bar: 'canaries in database, log, bodies and backups: 0 found',
    tests: ['test/guards/secrets.test.ts'],
  },
  {
    id: 'S04',
    promise: 'Sessions end when they should',
    bar: 'forged, swapped, expired and replayed tokens: 401',
    tests: [
      'test/topics/account/service',
      'test/topics/account/operations/sessions.test.ts',
      'test/topics/account/operations/second-factor.test.ts',
    ],
  },
  {
    id: 'S06',
    promise: 'No body sets a privileged field',
    bar: 'privileged fields in every body',
    tests: ['test/guards/privileged.test.ts'],
  },
  {
    id: 'S07',
    promise: 'Roles hold',
    bar: 'role by action',
    tests: [
      'test/plans/roles/roles.test.ts',
      'test/topics/account/operations/organization-roles.test.ts',
      'test/topics/account/operations/organizations.test.ts',
    ],
  },
  {
    id: 'S08',
    promise: 'A route is one route however it is spelled',
    bar: 'Hosts, slashes, headers',
    tests: ['test/http/front.test.ts'],
  },
  {
    id: 'S09',
    promise: 'Raw bytes get an error or a closed connection',
    bar: 'smuggled, abused and slow requests over sockets: 0 five-hundreds (S10 and S11 are in it)',
    tests: ['test/e2e/documents/interface.test.ts'],
  },
  {
    id: 'S12',
    promise: 'No input causes an undocumented response',
    bar: '100,000 requests made from the document: 0 five-hundreds',
    tests: ['test/guards/fuzz.test.ts'],
  },
  {
    id: 'S13',
    promise: 'No limit is exceeded by simultaneous requests',
    bar: '500 at once at the edge of each limit: what is granted is the limit, neither more nor less',
    script: ['races.ts', '500'],
  },
  {
    id: 'S15',
    promise: 'Nothing inside the network is reached',
    bar: 'spellings of forbidden targets, rebinding names, redirects: 0 connections',
    tests: ['test/send/egress', 'test/plans/rates/address.test.ts'],
  },
  {
    id: 'S17',
    promise: 'No redirect of a receiver is followed, and no name is resolved twice (S16)',
    bar: 'receivers that redirect or whose names change: 0 connections',
    tests: ['test/send/egress', 'test/send/webhooks'],
  },
  {
    id: 'S20',
    promise: 'Signatures verify with other libraries',
    bar: '10,000 payloads with independent verifiers',
    tests: ['test/lib/secrets/signature.test.ts'],
  },
  {
    id: 'S21',
    promise: 'No error reveals internals',
    bar: 'reflected input in every route',
    tests: ['test/guards/reflection.test.ts'],
  },
  {
    id: 'S22',
    promise: 'No input creates a header',
    bar: 'control characters in every reflected input: never a header, never a 500',
    tests: ['test/guards/reflection.test.ts'],
  },
  {
    id: 'S23',
    promise: 'A browser is safe on the pages',
    bar: 'Chromium: content policy, cookies, foreign forms',
    tests: ['test/console/account', 'test/console/docs'],
  },
  {
    id: 'S24',
    promise: 'No table or e-mail runs what a user wrote',
    bar: 'formulas, line ends, turned text',
    tests: ['test/lib/text/csv.test.ts', 'test/topics/deliveries/service/mail-message.test.ts'],
  },
  {
    id: 'S30',
    promise: 'The binary responds as the sources do',
    bar: 'every route of the API on the compiled binary',
    tests: ['test/e2e/documents/interface.test.ts', 'test/e2e/binary.test.ts'],
  },
]
