import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import manifest from '../../package.json'
import { carriedPackages } from '../notices.ts'

/** What the binary is made of, as CycloneDX 1.6: its packages and the engine that it carries. */
export function sbom(): string {
  const main = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    version: manifest.version,
    bomRef: `${manifest.name}@${manifest.version}`,
  })
  main.licenses.add(new Models.SpdxLicense(manifest.license))
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: main }) })
  const engine = manifest.packageManager.split('@')[1]!
  const parts = [...carriedPackages(), { name: 'bun', version: engine, license: 'MIT' }]
  for (const { name, version, license } of parts) {
    const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name]
    const component = new Models.Component(Enums.ComponentType.Library, bare!, {
      ...(scope !== undefined && { group: scope }),
      version,
      bomRef: `${name}@${version}`,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    })
    if (license !== undefined) component.licenses.add(licenceOf(license))
    bom.components.add(component)
    main.dependencies.add(component.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  )
  return serializer.serialize(bom, { sortLists: true, space: 2 })
}

/** `MIT`, or an expression such as `(MIT OR Apache-2.0)`. */
const licenceOf = (text: string) =>
  /[ (]/.test(text) ? new Models.LicenseExpression(text) : new Models.NamedLicense(text)
