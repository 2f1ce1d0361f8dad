import type { Job } from './jobs/job.ts'
import { sleep } from './lib/clock.ts'
import { secondMs } from './lib/instant.ts'
import { connectNats, type Nats } from './send/nats/connection.ts'
import { quotaBucket } from './service/replication/quota-bucket.ts'
import { createQuotaGrants, type QuotaGrants } from './service/replication/quota-grants.ts'
import type { Services } from './services.ts'

/** What a primary settles with the other copies over NATS, beside the stream of its commits. */
export interface Cluster {
  job: Job
  stop(): void
}

const retryMs = secondMs

/** Meets the others for as long as the process runs; without NATS it tries again, for ever. */
export function startCluster(
  services: Pick<Services, 'config' | 'keys' | 'meter' | 'clock' | 'log'>,
  reached: () => Promise<boolean>,
): Cluster {
  const { config, log } = services
  const { nats: settings } = config
  let isStopped = false
  let nats: Nats | undefined
  let grants: QuotaGrants | undefined
  const meet = async () => {
    nats = await connectNats({
      servers: settings.servers,
      credentialsFile: settings.credentialsFile,
      token: settings.token.reveal(),
      name: 'wellhead primary, quotas',
    })
    if (isStopped) return
    const bucket = await nats.bucket(quotaBucket, settings.copies, 0)
    grants = createQuotaGrants({ ...services, bucket, reached })
    await grants.run()
  }
  const run = async () => {
    while (!isStopped) {
      try {
        await meet()
      } catch (error) {
        if (!isStopped) log.warn('cluster_interrupted', { message: `${error}` })
      }
      grants = undefined
      await nats?.close().catch(() => undefined)
      if (!isStopped) await sleep(retryMs)
    }
  }
  void run()
  return {
    job: {
      name: 'quotas',
      pass() {
        grants?.reclaim().catch(error => log.warn('quota_not_reclaimed', { message: `${error}` }))
      },
    },
    stop() {
      isStopped = true
      void nats?.close().catch(() => undefined)
    },
  }
}
