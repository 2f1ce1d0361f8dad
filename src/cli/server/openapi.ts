import { writeFileSync } from 'node:fs'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { openDatabase } from '../../database/database.ts'
import { createApp } from '../../instance/app/app.ts'
import { openServices } from '../../instance/services/services.ts'

/** A placeholder: the document depends on no secret. */
const noKey = 'of no vault'

/**
 * The OpenAPI document of a server with this configuration, byte for byte, created over a database
 * in memory. Generating a client needs no credentials of the server's providers.
 */
export async function openapiText(runtime: ProcessRuntime): Promise<string> {
  const { mail, sms, billing } = runtime.config
  const config = {
    ...runtime.config,
    mail: { ...mail, provider: 'none' as const },
    sms: { ...sms, provider: 'log' as const },
    billing: { ...billing, provider: 'manual' as const },
  }
  const db = openDatabase(':memory:')
  try {
    const app = createApp(openServices({ ...runtime, config, db, masterKey: noKey }))
    const answer = await app.handle(new Request('http://localhost/openapi.json'))
    if (!answer.ok)
      throw new Error(
        `the document could not be generated: ${answer.status} ${await answer.text()}`,
      )
    return await answer.text()
  } finally {
    db.close()
  }
}

/** Prints the document, or replaces a file with it. */
export async function printOpenapi(
  runtime: ProcessRuntime,
  file: string | undefined,
  write: (text: string) => void | Promise<void>,
): Promise<void> {
  const text = await openapiText(runtime)
  if (file === undefined || file === '-') await write(text)
  else writeFileSync(file, text)
}
