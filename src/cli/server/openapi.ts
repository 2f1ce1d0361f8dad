import { writeFileSync } from 'node:fs'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { openDatabase } from '../../database/database.ts'
import { createApp } from '../../instance/app/app.ts'
import { openServices } from '../../instance/services/services.ts'

/** A placeholder: the document depends on no secret. */
const noKey = 'of no vault'

/**
 * The OpenAPI document that a server of this configuration answers, byte for byte, made over a
 * database in memory. Anyone who generates a client need not have what the server sends with: its
 * providers' credentials are not asked for.
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

/** Prints the document, or writes it to a file instead of what was there. */
export async function printOpenapi(
  runtime: ProcessRuntime,
  file: string | undefined,
  write: (text: string) => void | Promise<void>,
): Promise<void> {
  const text = await openapiText(runtime)
  if (file === undefined || file === '-') await write(text)
  else writeFileSync(file, text)
}
