import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { completion } from '../../src/cli/manual/completion.ts'
import { manualPage } from '../../src/cli/manual/man.ts'
import { commandTable } from '../../src/cli/manual/table.ts'
import { type DocumentationFile, documentationFiles } from '../docs/files.ts'
import { documentedProgram } from '../docs/program.ts'
import { writeNotices } from '../notices.ts'
import { sbom } from './sbom.ts'

/** The files delivered with a binary. */
export interface Papers {
  manual: string
  completions: { bash: string; zsh: string; fish: string }
  licence: string
  notices: string
  sbom: string
  unit: string
  configuration: string
  installation: string
  /** Every page of the documentation, with the parts that are generated. */
  documentation: DocumentationFile[]
  debian: Record<'postinst' | 'prerm' | 'postrm' | 'conffiles', string>
}

const packaged = (name: string) => readFileSync(join('packaging', name), 'utf8')

/** Makes them from the sources as they are; `notices` is the file to which licences are written. */
export function papers(notices: string): Papers {
  const { name } = manifest
  const program = documentedProgram()
  const rows = commandTable(program)
  const about = { name, description: program.description(), version: manifest.version }
  writeNotices(notices)
  return {
    manual: manualPage(about, rows),
    completions: {
      bash: completion('bash', name, rows),
      zsh: completion('zsh', name, rows),
      fish: completion('fish', name, rows),
    },
    licence: readFileSync('LICENSE', 'utf8'),
    notices: readFileSync(notices, 'utf8'),
    sbom: sbom(),
    unit: packaged('wellhead.service'),
    configuration: packaged('wellhead.toml'),
    installation: packaged('installation.json'),
    documentation: documentationFiles(),
    debian: {
      postinst: packaged('postinst'),
      prerm: packaged('prerm'),
      postrm: packaged('postrm'),
      conffiles: packaged('conffiles'),
    },
  }
}
