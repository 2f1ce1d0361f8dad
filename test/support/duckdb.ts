import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the command-line client of DuckDB does with statements of its standard input. */
const client = `#!/usr/bin/env python3
import csv, sys
import duckdb
try:
    db = duckdb.connect([word for word in sys.argv[1:] if not word.startswith("-")][0])
    for statement in duckdb.extract_statements(sys.stdin.read()):
        result = db.execute(statement)
        if statement.type == duckdb.StatementType.SELECT:
            csv.writer(sys.stdout, lineterminator="\\n").writerows(result.fetchall())
except Exception as error:
    sys.exit(str(error))
`

/** A PATH with the program duckdb: that of this machine, or one made of its Python module. */
export function pathWithDuckdb(dir: string): string {
  const path = process.env.PATH!
  if (Bun.which('duckdb')) return path
  const folder = join(dir, 'bin')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'duckdb'), client)
  chmodSync(join(folder, 'duckdb'), 0o755)
  return `${folder}:${path}`
}
