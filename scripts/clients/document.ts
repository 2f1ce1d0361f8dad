import { appOf, documentIn, usualConfig } from '../document.ts'

/** The OpenAPI document of the API as the sources have it, or of a running instance. */
export async function documentText(address: string | undefined): Promise<string> {
  if (address !== undefined) {
    const answer = await fetch(new URL('/openapi.json', address))
    if (!answer.ok) throw new Error(`${address} answered ${answer.status} for /openapi.json.`)
    return await answer.text()
  }
  return await documentIn(appOf(usualConfig()))
}
