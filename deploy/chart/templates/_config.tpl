{{- /* portolan.yaml: the options of `config`, and those that follow from other values. */ -}}
{{- define "portolan.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "port" 4000 -}}
{{- $_ := set $config "data" "/data/portolan.db" -}}
{{- with .Values.tls -}}
{{-   if .secret -}}
{{-     $_ := set $config "tlsCert" "/etc/portolan-tls/tls.crt" -}}
{{-     $_ := set $config "tlsKey" "/etc/portolan-tls/tls.key" -}}
{{-   end -}}
{{-   if .clientCa.secret }}{{ $_ := set $config "clientCa" (printf "/etc/portolan-client-ca/%s" .clientCa.key) }}{{ end -}}
{{-   if .proxyClientCa.secret }}{{ $_ := set $config "proxyClientCa" (printf "/etc/portolan-proxy-ca/%s" .proxyClientCa.key) }}{{ end -}}
{{- end -}}
{{- with .Values.planKey }}{{ if .secret }}{{ $_ := set $config "planKeyFile" (printf "/etc/portolan-plan-key/%s" .key) }}{{ end }}{{ end -}}
{{- if and .Values.abstractKinds.objects (not $config.abstractKindObjects) }}{{ $_ := set $config "abstractKindObjects" (list "*") }}{{ end -}}
{{- if .Values.kubeconfig.secret -}}
{{-   $_ := set $config "kubeconfig" (printf "/etc/portolan-clusters/%s" .Values.kubeconfig.key) -}}
{{- else -}}
{{-   $_ := set $config "inCluster" true -}}
{{- end -}}
{{- if and .Values.rbac.create (not .Values.kubeconfig.secret) (not $config.kinds) -}}
{{-   $rights := include "portolan.rights" . | fromYaml -}}
{{-   $rules := concat $rights.cluster $rights.namespaced -}}
{{-   $kinds := include "portolan.kindsOf" $rules | fromYamlArray -}}
{{-   if $kinds }}{{ $_ := set $config "kinds" $kinds }}{{ end -}}
{{-   $exclude := concat (default list $config.exclude) (include "portolan.notGranted" $rules | fromYamlArray) -}}
{{-   if $exclude }}{{ $_ := set $config "exclude" $exclude }}{{ end -}}
{{- end -}}
{{- if and .Values.aggregate.enabled .Values.config.kinds (not (has "*" .Values.config.kinds)) -}}
{{-   $_ := set $config "kinds" (append $config.kinds "shadowrecords.portolan.dev" | uniq) -}}
{{- end -}}
{{- $config | toYaml -}}
{{- end -}}

{{- /* Changes when the Pods must be replaced. Live options are left out, because running Pods take them from the ConfigMap. */ -}}
{{- define "portolan.checksum" -}}
{{- $config := include "portolan.config" . | fromYaml -}}
{{- if .Values.reload -}}
{{-   range (.Files.Get "files/live-options.yaml" | fromYaml).live }}{{ $_ := unset $config . }}{{ end -}}
{{- end -}}
{{- $config | toYaml | sha256sum -}}
{{- end -}}
