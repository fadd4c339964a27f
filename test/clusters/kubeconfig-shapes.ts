/**
 * Shapes of kubeconfigs, which kubectl and Portolan must read alike: the same server, the same user, or a refusal by both.
 *
 * SERVER is the address of a server with TLS, HOST its host and port, CA its authority in base64. OPEN_HOST is a server of plain HTTP. FOLDER is
 * the folder of the files. The folder has the files `ca.crt`,
 * `client.crt` and `client.key` (of the user `client`), `token` (`from-file`) and `plugin`, which prints a credential.
 */

export interface KubeconfigShape {
  /** The kubeconfig; several are named by KUBECONFIG together, in this order. */
  readonly files: readonly string[];
  readonly context?: string;
  /** The files are those of the home folder, without KUBECONFIG. */
  readonly isHome?: boolean;
  /** kubectl asks for a username at the terminal. Portolan sends the request without credentials, and the API server may refuse it. */
  readonly asks?: boolean;
}

const cluster = `{ name: c, cluster: { server: SERVER, certificate-authority-data: CA } }`;
const context = `{ name: x, context: { cluster: c, user: u } }`;

interface Parts {
  readonly clusters?: string;
  readonly users?: string;
  readonly contexts?: string;
  readonly current?: string;
  readonly more?: string;
}

function config({ clusters = cluster, users = '', contexts = context, current = 'x', more = '' }: Parts): string {
  return `apiVersion: v1
kind: Config
clusters: [${clusters}]
users: [${users}]
contexts: [${contexts}]
current-context: ${current}
${more}`;
}

const as = (user: string): string => `{ name: u, user: ${user} }`;
const user = (settings: string): KubeconfigShape => ({ files: [config({ users: as(settings) })] });
const whole = config({ users: as('{ token: abc }') });
const server = (settings: string): KubeconfigShape => ({
  files: [config({ clusters: `{ name: c, cluster: ${settings} }`, users: as('{ token: abc }') })],
});
const exec = (settings: string): KubeconfigShape =>
  user(
    `{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never, ${settings} } }`,
  );
/** A plugin that prints this status. */
const prints = (status: string): KubeconfigShape => exec(`env: [{ name: STATUS, value: '${status}' }]`);

export const shapes: Readonly<Record<string, KubeconfigShape>> = {
  'a token': { files: [whole] },
  'a context by name': {
    files: [config({ users: as('{ token: abc }'), current: '""' })],
    context: 'x',
  },
  'K6: a context with a comma in its name': {
    files: [config({ users: as('{ token: abc }'), contexts: `{ name: "a,b", context: { cluster: c, user: u } }` })],
    context: 'a,b',
  },
  'no current context': { files: [config({ users: as('{ token: abc }'), current: '""' })] },
  'a current context that is not there': { files: [config({ users: as('{ token: abc }'), current: 'other' })] },
  'a context by name that is not there': { files: [whole], context: 'other' },
  'K1: a broken context beside': {
    files: [
      config({ users: as('{ token: abc }'), contexts: `${context}, { name: later, context: { namespace: team } }` }),
    ],
  },
  'K1: a broken cluster beside': {
    files: [config({ users: as('{ token: abc }'), clusters: `${cluster}, { name: d, cluster: { server: "" } }` })],
  },
  'K1: a cluster without settings beside': {
    files: [config({ users: as('{ token: abc }'), clusters: `${cluster}, { name: d }` })],
  },
  'K1: entries without a name beside': {
    files: [
      config({
        users: `${as('{ token: abc }')}, { user: { token: other } }`,
        clusters: `${cluster}, { cluster: { server: "https://other" } }`,
        contexts: `${context}, { context: { cluster: c } }`,
      }),
    ],
  },
  'K1: a user without settings beside': { files: [config({ users: `${as('{ token: abc }')}, { name: v }` })] },
  'K1: null entries beside': {
    files: [
      config({
        users: `${as('{ token: abc }')}, { name: v, user: null }`,
        contexts: `${context}, { name: other, context: null }`,
      }),
    ],
  },
  'the context of use without a cluster': {
    files: [config({ users: as('{ token: abc }'), contexts: '{ name: x, context: { user: u } }' })],
  },
  'the context of use without settings': { files: [config({ users: as('{ token: abc }'), contexts: '{ name: x }' })] },
  'a cluster that is not there': { files: [config({ users: as('{ token: abc }'), clusters: '' })] },
  'a user that is not there': { files: [config({})] },
  'a server of no characters': server('{ server: "" }'),
  'a cluster without a server': server('{ certificate-authority-data: CA }'),
  'a server with a path and a slash': server('{ server: SERVER/path/, certificate-authority-data: CA }'),
  'another authority': server('{ server: SERVER, certificate-authority-data: OTHER_CA }'),
  'an authority in a file beside the kubeconfig': server('{ server: SERVER, certificate-authority: ca.crt }'),
  'an authority in a file by its path': server('{ server: SERVER, certificate-authority: FOLDER/ca.crt }'),
  'an authority in a file that is not there': server('{ server: SERVER, certificate-authority: none.crt }'),
  'an authority as data and as a file': server(
    '{ server: SERVER, certificate-authority: none.crt, certificate-authority-data: CA }',
  ),
  'an authority that is no certificate': server('{ server: SERVER, certificate-authority-data: bm9uZQ== }'),
  'an authority that is no base64': server('{ server: SERVER, certificate-authority-data: "?" }'),
  'no verification': server('{ server: SERVER, insecure-skip-tls-verify: true }'),
  'K3: no verification, as YAML 1.1 writes it': server('{ server: SERVER, insecure-skip-tls-verify: yes }'),
  'K3: verification, as YAML 1.1 writes it': server('{ server: SERVER, insecure-skip-tls-verify: off }'),
  'no verification, as text': server('{ server: SERVER, insecure-skip-tls-verify: "true" }'),
  'no verification, with an authority': server(
    '{ server: SERVER, insecure-skip-tls-verify: true, certificate-authority-data: CA }',
  ),
  'another name of the certificate': server(
    '{ server: SERVER, certificate-authority-data: CA, tls-server-name: other.example }',
  ),
  'the name of the certificate': server(
    '{ server: SERVER, certificate-authority-data: CA, tls-server-name: localhost }',
  ),
  'a server of plain HTTP at a port of TLS': server('{ server: PLAIN }'),
  'K3: a second document': { files: [`${whole}\n---\n{ clusters: [], contexts: [] }\n`] },
  'K3: a second document that is no YAML': { files: [`${whole}\n---\na: [\n`] },
  'K3: a key twice': { files: [`${config({ users: as('{ token: first }') })}\nusers: [${as('{ token: last }')}]\n`] },
  'K3: a key of a user twice': user('{ token: first, token: last }'),
  'a merge key': {
    files: [`base: &base { token: merged }\n${config({ users: '{ name: u, user: { <<: *base } }' })}`],
  },
  'an anchor': { files: [`base: &base { token: aliased }\n${config({ users: '{ name: u, user: *base }' })}`] },
  'members that nobody knows': {
    files: [config({ users: as('{ token: abc, colour: red }'), more: 'extensions: []\n' })],
  },
  JSON: {
    files: [
      '{"clusters":[{"name":"c","cluster":{"server":"SERVER","certificate-authority-data":"CA"}}],"users":[{"name":"u","user":{"token":"json"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}',
    ],
  },
  'no apiVersion and no kind': { files: [whole.replace(/^apiVersion.*\nkind.*\n/, '')] },
  'a name that is a number': {
    files: [
      config({ users: '{ name: 1, user: { token: abc } }', contexts: '{ name: x, context: { cluster: c, user: 1 } }' }),
    ],
  },
  'a password that is a number': user('{ username: jane, password: 12 }'),
  'a username and a password': user('{ username: jane, password: "s3:cret" }'),
  'a token and a password': user('{ token: abc, username: jane, password: secret }'),
  'K4: a token with a line break at its end': user('{ token: "abc\\n" }'),
  'a token with a blank': user('{ token: "a b" }'),
  'an empty token': { ...user('{ token: "" }'), asks: true },
  'a token file beside the kubeconfig': user('{ tokenFile: token }'),
  'a token file and a token': user('{ token: abc, tokenFile: FOLDER/token }'),
  'a token file that is not there': user('{ tokenFile: none }'),
  'a client certificate in files': user('{ client-certificate: client.crt, client-key: client.key }'),
  'a client certificate as data': user('{ client-certificate-data: CLIENT_CERT, client-key-data: CLIENT_KEY }'),
  'a client certificate without a key': user('{ client-certificate-data: CLIENT_CERT }'),
  'a client certificate and a token': user('{ client-certificate: client.crt, client-key: client.key, token: abc }'),
  'a client certificate that is none': user('{ client-certificate-data: bm9uZQ==, client-key-data: bm9uZQ== }'),
  'K5: no credentials': { ...user('{}'), asks: true },
  'K5: a context without a user': { asks: true, files: [config({ contexts: '{ name: x, context: { cluster: c } }' })] },
  'an impersonated user': user('{ token: abc, as: jane }'),
  'an impersonated user with groups, uid and extra': user(
    '{ token: abc, as: jane, as-uid: "7", as-groups: [devs, "a,b"], as-user-extra: { scopes: [one, two], "example.com/Reason": [x] } }',
  ),
  'impersonated groups without a user': user('{ token: abc, as-groups: [devs] }'),
  'a plugin': exec('env: null'),
  'a plugin with arguments and variables': exec('args: [one], env: [{ name: TOKEN, value: from-variable }]'),
  'a plugin that is not there': user(
    '{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ./none, interactiveMode: Never } }',
  ),
  'a plugin without a command': user(
    '{ exec: { apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never } }',
  ),
  'a plugin without an apiVersion': user('{ exec: { command: ./plugin, interactiveMode: Never } }'),
  'a plugin of an apiVersion that ended': user(
    '{ exec: { apiVersion: client.authentication.k8s.io/v1alpha1, command: ./plugin } }',
  ),
  'a plugin without an interactive mode': user(
    '{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin } }',
  ),
  'a plugin of v1beta1': user('{ exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin } }'),
  'a plugin that gives another apiVersion': exec(
    'env: [{ name: VERSION, value: client.authentication.k8s.io/v1beta1 }]',
  ),
  'a plugin that gives no credential': exec('env: [{ name: VERSION, value: none }]'),
  'a plugin that gives a null status': prints('null'),
  'a plugin that gives a token that is a number': prints('{"token":5}'),
  'a plugin that gives an empty token': prints('{"token":""}'),
  'a plugin that gives a token with a line break': prints('{"token":"abc\\n"}'),
  'a plugin that gives a certificate without a key': prints('{"clientCertificateData":"abc"}'),
  'a plugin that gives a token and half a certificate': prints('{"token":"abc","clientCertificateData":"abc"}'),
  'a plugin that gives a certificate and a key that are none': prints(
    '{"clientCertificateData":"abc","clientKeyData":"abc"}',
  ),
  'a plugin that gives a token with an end': prints('{"token":"abc","expirationTimestamp":"2999-01-01T00:00:00Z"}'),
  'a plugin that gives a token that has ended': prints('{"token":"abc","expirationTimestamp":"2001-01-01T00:00:00Z"}'),
  'a plugin that gives a token without an end': prints('{"token":"abc","expirationTimestamp":null}'),
  'a plugin that gives an end that is no time': prints('{"token":"abc","expirationTimestamp":"soon"}'),
  'a plugin that gives an end that is a day': prints('{"token":"abc","expirationTimestamp":"2999-01-01"}'),
  'a plugin that gives an end with an offset': prints(
    '{"token":"abc","expirationTimestamp":"2999-01-01T00:00:00.5+02:00"}',
  ),
  'a plugin that gives an end that is empty': prints('{"token":"abc","expirationTimestamp":""}'),
  'a plugin that gives an end that is a number': prints('{"token":"abc","expirationTimestamp":32472144000}'),
  'a plugin with a variable of the name that kubectl uses': exec('env: [{ name: KUBERNETES_EXEC_INFO, value: abc }]'),
  'a plugin with a variable without a value': exec('env: [{ name: TOKEN }]'),
  'a plugin of a user with the name of a member of all objects': {
    files: [
      config({
        users:
          '{ name: constructor, user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } } }',
        contexts: '{ name: x, context: { cluster: c, user: constructor } }',
      }),
    ],
  },
  'a plugin and a password': user(
    '{ username: jane, password: secret, exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } }',
  ),
  'a plugin and a token file': user(
    '{ tokenFile: token, exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } }',
  ),
  'a plugin and a client certificate': user(
    '{ client-certificate: client.crt, client-key: client.key, exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } }',
  ),
  'a plugin and an auth provider': user(
    '{ auth-provider: { name: oidc, config: {} }, exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } }',
  ),
  'a name twice': { files: [config({ users: `${as('{ token: abc }')}, ${as('{ token: def }')}` })] },
  'a list for a text': user('{ token: [abc] }'),
  'a text for an object': { files: [config({ users: '{ name: u, user: abc }' })] },
  'a number of another user': {
    files: [config({ users: `${as('{ token: abc }')}, { name: v, user: { token: 5 } }` })],
  },
  'a text that YAML 1.1 reads as a boolean': user('{ token: yes }'),
  'a text like a time': user('{ token: 2026-01-31 }'),
  'a text like a number to the base 60': user('{ token: 1:30 }'),
  'a user without a name that no context names': {
    files: [config({ users: '{ user: { token: abc } }', contexts: '{ name: x, context: { cluster: c } }' })],
  },
  'a plugin and a token': user(
    '{ token: abc, exec: { apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never } }',
  ),
  'K2: an empty file': { files: [''] },
  'K2: an empty file before another': { files: ['', whole] },
  'K2: a file of comments before another': { files: ['# none\n', whole] },
  'K2: a file of a document of null before another': { files: ['---\n', whole] },
  'a file that is no YAML': { files: ['a: ['] },
  'a file that is a list': { files: ['- a'] },
  'a file that is a text': { files: ['text'] },
  'a file that is no YAML before another': { files: ['a: [', whole] },
  'the first of two files': {
    files: [config({ users: as('{ token: first }') }), config({ users: as('{ token: second }') })],
  },
  'parts in two files': {
    files: [
      config({ users: '', contexts: '', current: 'x' }),
      config({ clusters: '', users: as('{ token: second }'), current: '""' }),
    ],
  },
  'the file of the home folder': { files: [whole], isHome: true },
  'K2: an empty file of the home folder': { files: ['# none'], isHome: true },

  'users that are null': {
    files: [config({ contexts: '{ name: x, context: { cluster: c } }' }).replace('users: []', 'users: ~')],
    asks: true,
  },
  'users that are an object': {
    files: [whole.replace('users: [', 'users: {a: [').replace(/\]\ncontexts/, ']}\ncontexts')],
  },
  'a byte order mark': { files: [`\ufeff${whole}`] },
  'line ends of Windows': { files: [whole.replaceAll('\n', '\r\n')] },
  'a tab before a member': { files: [`${whole}\npreferences:\n\tcolors: true\n`] },
  'JSON with a comma too many': {
    files: [
      `{"clusters":[{"name":"c","cluster":{"server":"SERVER","certificate-authority-data":"CA"}},],"users":[{"name":"u","user":{"token":"abc"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}`,
    ],
  },
  'two empty documents first': { files: [`---\n---\n${whole}`] },
  'an end of the document': { files: [`${whole}\n...\n`] },
  'another kind': { files: [whole.replace('kind: Config', 'kind: Secret')] },
  'another apiVersion': { files: [whole.replace('apiVersion: v1', 'apiVersion: v2')] },
  'members in capitals': { files: [whole.replace('users:', 'Users:').replace('token', 'Token')] },
  'a server without a scheme': server('{ server: "localhost:1" }'),
  'a server with blanks': server('{ server: " SERVER ", certificate-authority-data: CA }'),
  'a server of another scheme': server('{ server: "ftp://127.0.0.1:1" }'),
  'an authority of data with line ends': server(
    '{ server: SERVER, certificate-authority-data: " CA\\n" }'.replace(/" CA/, '"CA'),
  ),
  'an empty authority': server('{ server: SERVER, certificate-authority-data: "", certificate-authority: ca.crt }'),
  'a proxy that is none': server('{ server: SERVER, certificate-authority-data: CA, proxy-url: "not a url" }'),
  'an empty proxy': server('{ server: SERVER, certificate-authority-data: CA, proxy-url: "" }'),
  'no compression': server('{ server: SERVER, certificate-authority-data: CA, disable-compression: true }'),
  'no compression, as text': server('{ server: SERVER, certificate-authority-data: CA, disable-compression: "yes" }'),
  'no verification, as a number': server('{ server: SERVER, insecure-skip-tls-verify: 1 }'),
  'no verification, as YAML 1.1 writes it shortly': server('{ server: SERVER, insecure-skip-tls-verify: y }'),
  'no verification, in capitals': server('{ server: SERVER, insecure-skip-tls-verify: On }'),
  'no verification, as null': server('{ server: SERVER, certificate-authority-data: CA, insecure-skip-tls-verify: ~ }'),
  'a username without a password': user('{ username: jane }'),
  'a password without a username': { ...user('{ password: secret }'), asks: true },
  'a username with a colon': user('{ username: "a:b", password: "ü" }'),
  'a token that is null': { ...user('{ token: ~ }'), asks: true },
  'a token of a number': user('{ token: 123 }'),
  'a token of letters beyond ASCII': user('{ token: "ä" }'),
  'a token with a tab': user('{ token: "a\\tb" }'),
  'a token with a NUL': user('{ token: "a\\0b" }'),
  'an empty token file': user('{ tokenFile: "" , token: abc}'),
  'a folder as a token file': user('{ tokenFile: .kube }'),
  'an impersonated empty user': user('{ token: abc, as: "" }'),
  'an impersonated extra that is a text': user('{ token: abc, as: jane, as-user-extra: { a: b } }'),
  'an impersonated extra with odd names': user('{ token: abc, as: jane, as-user-extra: { "a/B c%": [x, ""] } }'),
  'an impersonated user with groups that are a text': user('{ token: abc, as: jane, as-groups: devs }'),
  'a null document': { files: ['null'] },
  'a context in another file than the current one': {
    files: [config({ users: as('{ token: abc }'), contexts: '' }), config({ clusters: '', current: '""' })],
  },
  'a namespace that is a number': {
    files: [
      config({ users: as('{ token: abc }'), contexts: '{ name: x, context: { cluster: c, user: u, namespace: 5 } }' }),
    ],
  },
  'a context of blanks': {
    files: [
      config({
        users: as('{ token: abc }'),
        contexts: '{ name: " ", context: { cluster: c, user: u } }',
        current: '" "',
      }),
    ],
  },
  'a current context that is a number': {
    files: [
      config({
        users: as('{ token: abc }'),
        contexts: '{ name: "5", context: { cluster: c, user: u } }',
        current: '5',
      }),
    ],
  },
  'a current context that is null': { files: [config({ users: as('{ token: abc }'), current: '~' })] },
  'a long text of several lines': {
    files: [
      whole
        .replace('token: abc', 'token: >-\n  abc')
        .replace(
          'users: [{ name: u, user: { token: >-\n  abc } }]',
          'users:\n- name: u\n  user:\n    token: >-\n      abc\n',
        ),
    ],
  },
  'a tag': user('{ token: !!str 123 }'),
  'an escape of YAML': user('{ token: "\\x61bc" }'),
  'the YAML version 1.1': { files: [`%YAML 1.1\n---\n${whole}`] },
  'the YAML version 1.2': { files: [`%YAML 1.2\n---\n${whole}`] },
  'the YAML version 1.0': { files: [`%YAML 1.0\n---\n${whole}`] },
  'the YAML version 2.0': { files: [`%YAML 2.0\n---\n${whole}`] },
  'a YAML version that is none': { files: [`%YAML one\n---\n${whole}`] },
  'a YAML version with a comment': { files: [`# first\n%YAML 1.1 # old\n---\n${whole}`] },
  'a YAML version twice': { files: [`%YAML 1.1\n%YAML 1.1\n---\n${whole}`] },
  'a YAML version without a start of the document': { files: [`%YAML 1.1\n${whole}`] },
  'a YAML version of the second document': { files: [`${whole}\n...\n%YAML 1.2\n---\na: b\n`] },
  'a directive that nobody knows': { files: [`%FOO bar\n---\n${whole}`] },
  'a directive of a tag': {
    files: [`%TAG !k! tag:yaml.org,2002:\n---\n${config({ users: as('{ token: !k!str 123 }') })}`],
  },
  'a directive of a tag twice': { files: [`%TAG !k! tag:k\n%TAG !k! tag:k\n---\n${whole}`] },
  'a binary text': user('{ token: !!binary YWJj }'),
  'a binary text of several lines': {
    files: [
      config({ users: as('{ token: abc }') }).replace(
        'users: [{ name: u, user: { token: abc } }]',
        'users:\n- name: u\n  user:\n    token: !!binary |\n      YW\n      Jj\n',
      ),
    ],
  },
  'a binary text that is no base64': user('{ token: !!binary "=" }'),
  'a binary authority': server('{ server: SERVER, certificate-authority-data: !!binary CA }'),
  'a tag of an integer': user('{ token: !!int "5" }'),
  'a tag of an integer at a text': user('{ token: !!int abc }'),
  'a tag of a boolean': server('{ server: SERVER, insecure-skip-tls-verify: !!bool "yes" }'),
  'a tag of a boolean at a text': server('{ server: SERVER, insecure-skip-tls-verify: !!bool "maybe" }'),
  'a tag of null': { ...user('{ token: !!null "" }'), asks: true },
  'a tag of a time': user('{ token: !!timestamp 2026-01-31 }'),
  'a tag that nobody knows': user('{ token: !other 123 }'),
  'a tag of no name': user('{ token: ! 123 }'),
  'a tag of a set': { files: [config({ users: as('!!set { token: abc }') })] },
  'a token like an octal number': user('{ token: 0o17 }'),
  'a token like an octal number of YAML 1.1': user('{ token: 017 }'),
  'a token like a number with underscores': user('{ token: 1_000 }'),
  'a token like a binary number': user('{ token: 0b11 }'),
  'a token like a hexadecimal number': user('{ token: 0x1F }'),
  'a token like a hexadecimal number that is none': user('{ token: 0xfg }'),
  'a token like an exponent': user('{ token: 12e5 }'),
  'a token like an exponent that is too great': user('{ token: 12e999 }'),
  'a token of digits with a letter': user('{ token: 12345678901234567890abc }'),
  'a token of more digits than an integer has': user('{ token: 123456789012345678901234567890 }'),
  'a token like a fraction': user('{ token: .5 }'),
  'a token of a point': user('{ token: . }'),
  'a token of a sign': user('{ token: "-" }'),
  'a token of infinity': user('{ token: .inf }'),
  'no number in a member that nobody knows': user('{ token: abc, colour: .nan }'),
  'a token like a number to the base 60 with seconds': user('{ token: 190:20:30 }'),
  'a token that YAML 1.1 reads as false': user('{ token: n }'),
  'a token of mixed case': user('{ token: yEs }'),
  'a token of an equals sign': user('{ token: = }'),
  'a key of null': { files: [`~: a\n${whole}`] },
  'a key of a number': { files: [`5: a\n${whole}`] },
  'a key of a list': { files: [`[a]: a\n${whole}`] },
  'a server with a query': server('{ server: "SERVER?a=b", certificate-authority-data: CA }'),
  'a server with a path and a query': server('{ server: "SERVER/path?a=b", certificate-authority-data: CA }'),
  'a server with a fragment': server('{ server: "SERVER#a", certificate-authority-data: CA }'),
  'a server with a user': server(
    '{ server: "SERVER", certificate-authority-data: CA }'.replace('SERVER', 'https://jane:secret@HOST'),
  ),
  'a server in capitals': server('{ server: "HTTPS://HOST", certificate-authority-data: CA }'),
  'a server with one slash': server('{ server: "https:/HOST", certificate-authority-data: CA }'),
  'a server without slashes': server('{ server: "https:HOST", certificate-authority-data: CA }'),
  'a server with backslashes': server('{ server: "https:\\\\\\\\HOST", certificate-authority-data: CA }'),
  'a server with slashes in its path': server('{ server: "SERVER//a//b/", certificate-authority-data: CA }'),
  'a server with dots in its path': server('{ server: "SERVER/a/../b", certificate-authority-data: CA }'),
  'a server of a host and a port': {
    files: [config({ clusters: '{ name: c, cluster: { server: "OPEN_HOST" } }', users: as('{}') })],
  },
  'a server of a user, a host and a port': {
    files: [config({ clusters: '{ name: c, cluster: { server: "jane:secret@OPEN_HOST" } }', users: as('{}') })],
  },
  'a server of a host, a port and a slash': {
    files: [config({ clusters: '{ name: c, cluster: { server: "OPEN_HOST/" } }', users: as('{}') })],
  },
  'a server of a host, a port and a path': {
    files: [config({ clusters: '{ name: c, cluster: { server: "OPEN_HOST/path" } }', users: as('{}') })],
  },
  'a server of a host and a port, with an authority': {
    files: [
      config({
        clusters: '{ name: c, cluster: { server: "OPEN_HOST", certificate-authority-data: CA } }',
        users: as('{}'),
      }),
    ],
  },
  'a server of two slashes': server('{ server: "//HOST", certificate-authority-data: CA }'),
  'a server of plain HTTP': {
    files: [config({ clusters: '{ name: c, cluster: { server: "http://OPEN_HOST/path" } }', users: as('{}') })],
  },
  'a server of plain HTTP that impersonates': {
    files: [config({ clusters: '{ name: c, cluster: { server: "http://OPEN_HOST" } }', users: as('{ as: jane }') })],
  },
};
