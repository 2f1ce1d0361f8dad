import { dirname, join, relative, resolve } from 'node:path'

export const src = resolve(import.meta.dir, '../../src')

/**
 * The rooms of `src/` from the ground up. A file imports from its room, from rooms of lower floors,
 * and from rooms of the same floor through their doors. `*` stands for any topic; the longest name
 * that fits decides.
 */
export const floors: readonly (readonly string[])[] = [
  ['lib', 'version.ts', 'assets.d.ts'],
  ['plans'],
  ['topics/*/math', 'config', 'replication/nats'],
  ['datasets'],
  ['topics/*/dataset'],
  ['database', 'send'],
  ['topics/*/store', 'feeds/store', 'outbox/store', 'replication/store', 'database/undo'],
  ['feeds/reading', 'feeds/files', 'feeds/publishers', 'feeds/formats'],
  ['topics/*/service', 'topics/*/files', 'outbox', 'replication/service'],
  ['feeds/engine', 'feeds', 'instance/services'],
  ['http', 'topics/*/demo', 'demo', 'instance/jobs'],
  ['topics/*/operations', 'http/operations'],
  ['console'],
  ['instance/app'],
  ['threads', 'replication'],
  ['instance'],
  ['cli'],
  ['main.ts'],
]

/** The demo world is one room, with a part in each topic that it makes data for. */
const roomOf = (name: string) => (/^topics\/[^/]+\/demo$/.test(name) ? 'demo' : name)

/** The room and the floor of a file of `src/`, which is named from there. */
export function placeOf(file: string): { room: string; floor: number } | undefined {
  let place: { room: string; floor: number; length: number } | undefined
  for (const [floor, rooms] of floors.entries()) {
    for (const room of rooms) {
      const parts = room.split('/')
      const names = file.split('/').slice(0, parts.length)
      const fits = parts.every((part, at) => part === '*' || part === names[at])
      if (fits && parts.length > (place?.length ?? 0)) {
        place = { room: roomOf(names.join('/')), floor, length: parts.length }
      }
    }
  }
  return place && { room: place.room, floor: place.floor }
}

export const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(src)].sort()

export const read = async (file: string) => await Bun.file(join(src, file)).text()

/** The imports of a file, named from `src/`; `lazily` counts those loaded later. */
export async function importsOf(file: string, lazily: boolean): Promise<string[]> {
  const text = await read(file)
  const pattern = lazily
    ? /(?:from|import|require)\s*\(?\s*'(\.[^']+)'/g
    : /(?:from|import)\s*'(\.[^']+)'/g
  return [...text.matchAll(pattern)]
    .map(match => relative(src, resolve(src, dirname(file), match[1]!)))
    .filter(path => /\.tsx?$/.test(path) && !path.startsWith('..'))
}
