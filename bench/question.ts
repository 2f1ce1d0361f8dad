import { load, requestBytes } from './load.ts'

/** A request that is sent to one server repeatedly. */
export interface Question {
  /** The body of its answer. */
  body: string
  /** One measurement: responses per second. */
  run(): Promise<number>
}

/** Asks once, to know what every answer must look like. Throws where that is not a 200. */
export async function question(
  port: number,
  path: string,
  seconds: number,
  token?: string,
): Promise<Question> {
  const headers: Record<string, string> =
    token === undefined ? {} : { Authorization: `Token ${token}` }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const body = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${body}`)
  const requests = [requestBytes(port, path, headers)]
  return { body, run: () => load({ port, requests, bodyBytes: Buffer.byteLength(body), seconds }) }
}
