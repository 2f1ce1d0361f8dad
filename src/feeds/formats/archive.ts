import { contentOf, type Source } from '../files/source.ts'
import { archiveFiles } from '../reading/zip.ts'
import { spooled } from './spool.ts'

/** The content of a ZIP archive: a workbook, or the one file in it, unpacked. */
export async function unpacked(
  source: Source,
  directory: string,
): Promise<{ kind: 'workbook' } | { kind: 'file'; source: Source }> {
  const names: string[] = []
  for await (const file of archiveFiles(contentOf(source), name => {
    names.push(name)
    return false
  }))
    await file.read()[Symbol.asyncIterator]().return?.()
  if (names.includes('xl/workbook.xml')) return { kind: 'workbook' }
  const files = names.filter(name => !name.endsWith('/') && !name.startsWith('__MACOSX/'))
  const only = files[0]
  if (only === undefined || files.length > 1)
    throw new Error(
      `${source.name} is a ZIP archive of ${files.length} files: one is expected; unpack it and import what is in it`,
    )
  for await (const file of archiveFiles(contentOf(source), name => name === only)) {
    return { kind: 'file', source: await spooled(source, directory, file.read()) }
  }
  throw new Error(`${source.name} is a ZIP archive that is damaged`)
}
