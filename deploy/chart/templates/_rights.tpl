{{- /*
The rights of the gateway's account, as `portolan rbac` prints them, and the kinds that the gateway reads by them.

files/rights.yaml is written from the code of `portolan rbac`: the built-in kinds, and the rules that name no kinds. These templates only
select among them. test/chart/rights.test.ts compares the roles with those of the code.

    config.kinds, config.exclude ┐
    rbac.secrets, custom groups  ┴> rules of the roles ──> kinds and exclude of portolan.yaml

The second step follows from the rules, so the gateway never asks for a kind that it may not read.
*/ -}}

{{- /*
YAML with `cluster` (rules of the ClusterRole), `namespaced` (rules of the Role in each namespace of config.namespaces) and
`impersonation`.
*/ -}}
{{- define "portolan.rights" -}}
{{- $known := .Files.Get "files/rights.yaml" | fromYaml -}}
{{- $config := .Values.config -}}
{{- $rbac := .Values.rbac -}}
{{- $callers := without (default list $config.auth) "none" -}}
{{- $asksServer := and $callers (ne $config.authorizationMode "rbac") -}}
{{- $readsRoles := and $callers (ne $config.authorizationMode "review") -}}
{{- $kinds := list -}}
{{- range $known.kinds -}}
{{-   $allowed := or $rbac.secrets (ne .kind "Secret") -}}
{{-   if or (and $readsRoles .decidesRights) (and $allowed (include "portolan.selects" (list . $config))) -}}
{{-     $kinds = append $kinds . -}}
{{-   end -}}
{{- end -}}
{{- if or .Values.abstractKinds.objects $config.abstractKindObjects -}}
{{-   $kinds = append $kinds (dict "group" "portolan.dev" "plural" "abstractkinds" "kind" "AbstractKind" "watch" true "mayBeCustom" true) -}}
{{- end -}}
{{- if or .Values.sets.definition .Values.aggregate.enabled -}}
{{-   $kinds = append $kinds (dict "group" "portolan.dev" "plural" "shadowrecords" "kind" "ShadowRecord" "namespaced" true "watch" true "mayBeCustom" true) -}}
{{- end -}}
{{- $groups := $rbac.customResources.groups -}}
{{- if and $rbac.customResources.lookup (not $rbac.wildcards) -}}
{{-   range (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "").items -}}
{{-     $kind := dict "group" .spec.group "plural" .spec.names.plural "kind" .spec.names.kind "watch" true -}}
{{-     if include "portolan.selects" (list $kind $config) -}}
{{-       $groups = append $groups .spec.group -}}
{{-       if and $config.namespaces (eq .spec.scope "Cluster") -}}
{{-         $kinds = append $kinds $kind -}}
{{-       end -}}
{{-     end -}}
{{-   end -}}
{{- end -}}
{{- $groups = $groups | uniq | sortAlpha -}}
{{- $mayBeCustom := or $groups $rbac.wildcards -}}
{{- $inNamespaces := list -}}
{{- $inCluster := list -}}
{{- range $kinds -}}
{{-   if .mayBeCustom }}{{ $mayBeCustom = true }}{{ end -}}
{{-   if and $config.namespaces .namespaced }}{{ $inNamespaces = append $inNamespaces . }}{{ else }}{{ $inCluster = append $inCluster . }}{{ end -}}
{{- end -}}
{{- $inNamespaces = include "portolan.readingRules" $inNamespaces | fromYamlArray -}}
{{- $inCluster = include "portolan.readingRules" $inCluster | fromYamlArray -}}
{{- $custom := list -}}
{{- with $groups }}{{ $custom = list (dict "apiGroups" . "resources" (list "*") "verbs" (list "list" "watch")) }}{{ end -}}
{{- if $rbac.wildcards }}{{ $inNamespaces = $known.rules.wildcards }}{{ else }}{{ $inNamespaces = concat $inNamespaces $custom }}{{ end -}}
{{- if not $config.namespaces -}}
{{-   $inCluster = ternary $known.rules.wildcards (concat $inCluster $custom) $rbac.wildcards -}}
{{-   $inNamespaces = list -}}
{{- end -}}
{{- if $mayBeCustom }}{{ $inCluster = concat $inCluster $known.rules.definitions }}{{ end -}}
{{- $inCluster = concat $inCluster $known.rules.identity -}}
{{- if has "token" $callers }}{{ $inCluster = concat $inCluster $known.rules.tokenReviews }}{{ end -}}
{{- if $asksServer }}{{ $inCluster = concat $inCluster $known.rules.accessReviews }}{{ end -}}
{{- $inCluster = concat $inCluster $known.rules.paths -}}
{{- $impersonation := list -}}
{{- if eq $config.impersonate "classic" }}{{ $impersonation = $known.rules.impersonation }}{{ end -}}
{{- if eq $config.impersonate "constrained" }}{{ $impersonation = $known.rules.constrainedImpersonation }}{{ end -}}
{{- if $rbac.rules -}}
{{-   dict "cluster" $rbac.rules "namespaced" list "impersonation" list | toYaml -}}
{{- else -}}
{{-   dict "cluster" $inCluster "namespaced" $inNamespaces "impersonation" $impersonation | toYaml -}}
{{- end -}}
{{- end -}}

{{- /* One rule for the kinds of a group with the same verbs. */ -}}
{{- define "portolan.readingRules" -}}
{{- $groups := dict -}}
{{- range . -}}
{{-   $key := printf "%s %t" .group .watch -}}
{{-   $_ := set $groups $key (append (default list (get $groups $key)) .plural) -}}
{{- end -}}
{{- range $key := keys $groups | sortAlpha }}
- apiGroups: [{{ splitList " " $key | first | quote }}]
  resources: {{ get $groups $key | uniq | sortAlpha | toJson }}
  verbs: {{ ternary (list "list" "watch") (list "list") (hasSuffix " true" $key) | toJson }}
{{- end }}
{{- end -}}

{{- /* Whether config.kinds and config.exclude select the kind, as the gateway decides it: "true" or nothing. The parameter is (list kind config). */ -}}
{{- define "portolan.selects" -}}
{{- $kind := first . -}}
{{- $config := last . -}}
{{- $named := false -}}
{{- $excluded := false -}}
{{- range $config.kinds -}}
{{-   if and (ne . "*") (include "portolan.isNamed" (list $kind .)) }}{{ $named = true }}{{ end -}}
{{- end -}}
{{- range $config.exclude -}}
{{-   if include "portolan.isNamed" (list $kind .) }}{{ $excluded = true }}{{ end -}}
{{- end -}}
{{- $all := or (not $config.kinds) (has "*" $config.kinds) -}}
{{- if and (not $excluded) (or $named (and $all (not $kind.unlessNamed))) }}true{{ end -}}
{{- end -}}

{{- define "portolan.isNamed" -}}
{{- $kind := first . -}}
{{- $pattern := printf "(?i)^%s$" (last . | regexQuoteMeta | replace "\\*" ".*") -}}
{{- range list $kind.plural (printf "%s.%s" $kind.plural $kind.group) $kind.kind -}}
{{-   if regexMatch $pattern . }}true{{ end -}}
{{- end -}}
{{- end -}}

{{- /*
The names for `kinds` of portolan.yaml that the rules allow, as a YAML list; empty for everything. `pods.` is the resource of the core group
alone. A kind needs list and watch. Rules with only list are those of kinds that cannot be watched.
*/ -}}
{{- define "portolan.kindsOf" -}}
{{- $names := list -}}
{{- range $rule := . -}}
{{-   $reads := or (has "*" $rule.verbs) (and (has "list" $rule.verbs) (has "watch" $rule.verbs)) (and (has "list" $rule.verbs) (eq (len $rule.verbs) 1)) -}}
{{-   if and $reads (not $rule.resourceNames) -}}
{{-     range $group := $rule.apiGroups -}}
{{-       range $resource := $rule.resources -}}
{{-         if not (contains "/" $resource) }}{{ $names = append $names (printf "%s.%s" $resource $group) }}{{ end -}}
{{-       end -}}
{{-     end -}}
{{-   end -}}
{{- end -}}
{{- if not (has "*.*" $names) }}{{ $names | uniq | toYaml }}{{ end -}}
{{- end -}}

{{- /*
Names for `exclude` of portolan.yaml. Rules for all resources of example.com give the kind `*.example.com`, which also matches resources of
sub.example.com. They are excluded if the rules do not have them.
*/ -}}
{{- define "portolan.notGranted" -}}
{{- $groups := list -}}
{{- range . }}{{ if has "*" .resources }}{{ $groups = concat $groups .apiGroups }}{{ end }}{{ end -}}
{{- $names := list -}}
{{- range $group := without $groups "*" "" -}}
{{-   $below := false -}}
{{-   range $groups }}{{ if hasSuffix (printf ".%s" $group) . }}{{ $below = true }}{{ end }}{{ end -}}
{{-   if not $below }}{{ $names = append $names (printf "*.*.%s" $group) }}{{ end -}}
{{- end -}}
{{- if not (has "*" $groups) }}{{ $names | uniq | toYaml }}{{ end -}}
{{- end -}}
