import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary } from '../../test/support/instance/binary.ts'

/**
 * A primary in a separate network namespace is cut off from NATS and its standby, while both are
 * pushed to from within their own side; then the link comes back. Needs the rights to make
 * namespaces. Prints one line of JSON.
 *
 * bun scripts/torture/partition.ts [nats.sync, else commit]
 */

const sync = process.argv[2] ?? 'commit'
const program = binary()
const dir = mkdtempSync(join(tmpdir(), 'wellhead-partition-'))
const words = (text: string) => text.split(' ')
const sh = (text: string) => {
  const outcome = Bun.spawnSync(words(text))
  if (outcome.exitCode !== 0) throw new Error(`${text}: ${outcome.stderr}`)
}
const [space, link, inner] = ['wellhead-cut', 'wellhead-out', 'wellhead-in']
const [outerAddress, innerAddress] = ['10.77.21.1', '10.77.21.2']
const natsPort = 24_222
sh(`ip netns add ${space}`)
const started: Bun.Subprocess[] = []
const start = async (name: string, prefix: string, address: string, port: number, args: string) => {
  mkdirSync(join(dir, name), { recursive: true })
  const ready = join(dir, `${name}.ready`)
  const child = Bun.spawn(
    words(
      `${prefix}${program} serve --standby auto${args} --host 0.0.0.0 --data ${join(dir, name)} --port ${port} --ready-file ${ready}`,
    ),
    {
      env: {
        PATH: process.env.PATH,
        WELLHEAD_NATS_SERVERS: `nats://${outerAddress}:${natsPort}`,
        WELLHEAD_NATS_SYNC: sync,
        WELLHEAD_NATS_ADDRESS: `http://${address}:${port}`,
        WELLHEAD_REPLICA_PRIMARY: `http://${innerAddress}:24223`,
        WELLHEAD_SECRETS_MASTER_KEY: 'a master key that is long enough for torture 0123456789',
      },
      stdout: 'ignore',
      stderr: Bun.file(join(dir, `${name}.log`)),
    },
  )
  started.push(child)
  for (let i = 0; !(await Bun.file(ready).exists()); i++) {
    if (i > 3000 || child.exitCode !== null) throw new Error(`${name} did not start`)
    await Bun.sleep(20)
  }
  return (await Bun.file(ready).json()) as Record<string, string>
}
/** Pushes from a client on the same side as the node. */
const push = (prefix: string, port: number, token: string, at: number, price: number) => {
  const body = JSON.stringify({
    observations: [{ code: 'WTI_USD', observed_at: new Date(at).toISOString(), price }],
  })
  const command = words(`${prefix}curl -s -m 8 -w %{http_code} -H content-type:application/json`)
  const outcome = Bun.spawnSync([
    ...command,
    '-H',
    `authorization: Bearer ${token}`,
    '-d',
    body,
    `http://127.0.0.1:${port}/admin/v1/observations`,
  ])
  const said = outcome.stdout.toString()
  return { status: Number(said.slice(-3)), text: said.slice(0, -3) }
}

let failures = 0
try {
  sh(`ip link add ${link} type veth peer name ${inner}`)
  sh(`ip link set ${inner} netns ${space}`)
  sh(`ip addr add ${outerAddress}/24 dev ${link}`)
  sh(`ip link set ${link} up`)
  const within = `ip netns exec ${space} `
  sh(`${within}ip addr add ${innerAddress}/24 dev ${inner}`)
  sh(`${within}ip link set ${inner} up`)
  sh(`${within}ip link set lo up`)
  started.push(
    Bun.spawn(words(`nats-server -js -sd ${join(dir, 'nats')} -a 0.0.0.0 -p ${natsPort}`), {
      stdout: 'ignore',
      stderr: 'ignore',
    }),
  )
  await Bun.sleep(1000)
  const { admin_token: token = '' } = await start('old', within, innerAddress, 24_223, '')
  const firstAt = Date.now() - 86_400_000
  let pushed = 0
  const old = () => push(within, 24_223, token, firstAt + ++pushed * 1000, 70 + pushed / 100)
  const next = () => push('', 24_224, token, firstAt + ++pushed * 1000, 70 + pushed / 100)
  while (old().status !== 200) await Bun.sleep(200)
  await start('next', '', outerAddress, 24_224, ' --replica')
  while (next().status !== 200) await Bun.sleep(200)

  const cutAt = performance.now()
  sh(`ip link set ${link} down`)
  let [acknowledgedByOld, promotedMs, splitWrites, refusedAfterMs] = [0, 0, 0, 0]
  while (promotedMs === 0 && performance.now() - cutAt < 60_000) {
    const byOld = old()
    if (byOld.status === 200) acknowledgedByOld += 1
    else if (refusedAfterMs === 0) refusedAfterMs = Math.round(performance.now() - cutAt)
    if (next().status === 200) promotedMs = Math.round(performance.now() - cutAt)
  }
  for (let i = 0; i < 20; i++) {
    if (old().status === 200) splitWrites += 1
    if (next().status !== 200) failures += 1
  }
  sh(`ip link set ${link} up`)
  let reason = ''
  for (let i = 0; i < 100 && !reason.includes('another instance'); i++) {
    const byOld = old()
    if (byOld.status === 200) splitWrites += 1
    reason = byOld.text
    await Bun.sleep(200)
  }
  if (!reason.includes('another instance') || promotedMs === 0 || promotedMs > 10_000) failures += 1
  console.log(
    JSON.stringify({
      id: 'partition',
      n: 1,
      failures: failures + splitWrites + (sync === 'commit' ? acknowledgedByOld : 0),
      sync,
      acknowledged_by_the_old_while_cut_off: acknowledgedByOld,
      refused_after_ms: refusedAfterMs,
      promoted_after_ms: promotedMs,
      split_writes: splitWrites,
      reason: /Nothing is written here[^"]*/.exec(reason)?.[0],
    }),
  )
} finally {
  for (const child of started) child.kill('SIGKILL')
  for (const child of started) await child.exited
  Bun.spawnSync(words(`ip netns del ${space}`))
  rmSync(dir, { recursive: true, force: true })
}
